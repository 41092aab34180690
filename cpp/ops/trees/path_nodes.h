#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/hit_points.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

constexpr std::uint32_t kNoNode = ~std::uint32_t{0};

/// A cloud by voxels.
struct PathNodes {
  Vec3d origin;              ///< of `place`, in the frame of the points
  double edge_m;             ///< used: at least as large as asked for
  BulkVector<Vec3d> place;   ///< (m) means of the points of each voxel, relative to the origin
  BulkVector<float> height;  ///< (m) mean above the ground of those points that have one; NaN = none has
  BulkVector<std::uint32_t> points;   ///< (m) number of points
  BulkVector<std::uint32_t> node_of;  ///< (n) node of each point, kNoNode where a point is not finite

  std::size_t size() const { return place.size(); }
};

/// Nodes by ascending x, y and z of their voxels. Positions are those of local_position.h, to 2^-16 m, so that a cloud that
/// was moved has the same nodes. Means are sums of whole numbers, so they do not depend on the order of the points. Extents
/// of more than 2^31 voxels enlarge the voxels.
///
/// heights  (n) or empty
/// Cost     O(n) time; 28 bytes per point while it runs, 40 bytes per node and 4 per point after it.
PathNodes path_nodes(HitPoints points, Span<const float> heights, double edge_m,
                     const std::optional<Vec3d>& origin, OpContext& ctx);

/// Voxels that hold points, and those of them that hold one point alone.
struct VoxelCount {
  std::uint64_t voxels, single;
};

/// In clouds of more than 65,536 points known from one voxel in 16. The same for any order of the points.
VoxelCount voxel_count(HitPoints points, double edge_m, OpContext& ctx);

/// The edge of voxels that gives about most_nodes nodes, at least finest_m. In clouds of more than 65,536 points their number
/// is known from one voxel in 16, so to about 1 % for a million. The same for any order of the points.
///
/// most_nodes  at least 128: there are voxels on eight sides of the origin
double path_node_edge(HitPoints points, double finest_m, std::uint64_t most_nodes, OpContext& ctx);

}  // namespace pc
