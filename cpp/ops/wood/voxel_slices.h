#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/trees/path_graph.h"
#include "ops/wood/voxel_paths.h"

namespace pc {

/// A connected part of the voxels whose paths have about the same length: a slice of a branch, or some leaves.
struct VoxelSlice {
  float
      radius_m;  ///< of the circle fitted across the mean direction of the paths; of a poor fit that of the scatter
  float residual;   ///< root mean square of the distances from the circle over its radius, 0 .. 2
  float coherence;  ///< length of the mean of the unit steps of the paths, 0 .. 1
  float coverage;   ///< share of 12 sectors around the axis that have voxels
  float spread_m;   ///< root mean square distance from the axis through the mean
  float count;      ///< voxels
};

struct VoxelSlices {
  BulkVector<VoxelSlice> slice;
  BulkVector<std::uint32_t> slice_of;  ///< (m)
};

/// depth_m  length of path of a slice
/// join_m   longest edge of the graph that joins voxels of a slice
/// Source   circle: Kasa 1976, least squares of the squared radius
VoxelSlices voxel_slices(Span<const Vec3d> places, const PathGraph& graph, const VoxelPaths& paths,
                         double depth_m, double join_m, OpContext& ctx);

}  // namespace pc
