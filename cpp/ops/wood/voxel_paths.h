#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/trees/path_graph.h"

namespace pc {

constexpr std::uint32_t kNoParent = ~std::uint32_t{0};

/// The cheapest path from the base of a plant to each voxel.
struct VoxelPaths {
  BulkVector<std::uint32_t> parent;  ///< (m) kNoParent = a path starts here
  BulkVector<std::uint32_t> order;   ///< (m) voxels by the cost of their paths: parents first
  BulkVector<float> length;          ///< (m) of the path, metres
};

/// Cheapest paths over the graph (Dijkstra 1959) from the places that are low for their surroundings.
///
/// Step     length^2 (1 + 4 scatter); equal costs go to the lower voxel
/// Start    anywhere, at the cost of a step of the height above the floor: the highest surface below all voxels that
///          rises by at most .4 m a metre
/// Islands  Parts that no path reaches are joined by the shortest step of at most 16, 32, .. voxels, in rounds that double
///          it up to 5 m; what is left starts from its lowest voxel.
/// Order    A function of the places and the graph.
/// Cost     O(m neighbours log m) time
VoxelPaths voxel_paths(Span<const Vec3d> places, const PathGraph& graph, double voxel_m, OpContext& ctx);

}  // namespace pc
