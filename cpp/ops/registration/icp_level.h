#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/kd_tree.h"

namespace pc {

/// One side of a registration at one level of detail, in the order of its tree.
struct IcpLevel {
  std::unique_ptr<KdTree> tree;
  BulkVector<Vec3d> points;  ///< by slot of the tree, metres
  BulkVector<Vec3d>
      normals;  ///< by slot: unit vectors of either sign, or 0 where the neighbours span no plane
  BulkVector<std::uint8_t>
      is_rim;            ///< by slot: 1 = the neighbours lie to one side, so the surface may go on there
  double spacing_m = 0;  ///< median distance to the sixth neighbour, or to the last of fewer
};

/// Builds a level from its points.
///
/// points   (n) finite, metres, relative to a place near them; 1 <= n < 2^32 - 1
/// Order    The same bits for any thread count.
/// Cost     O(n log n) time, 100 n bytes.
/// Cancel   Within 250 ms.
/// Source   Normals: principal components of a point and its 20 neighbours (Hoppe et al. 1992). Rim: the neighbours'
///          mean lies beyond 0.4 of their radius from the point, along the surface; the edge of a half-plane gives
///          4 / (3 pi) = 0.42. Where more than 30 % of the points would be rim (twigs, noise), none is.
IcpLevel icp_level(Span<const Vec3d> points, OpContext& ctx);

/// The mean of the points of each voxel, in the order of the voxels' places.
///
/// voxel_m  edge, > 0; enlarged where the cloud would have more than 2^20 voxels along an axis
BulkVector<Vec3d> voxel_means(Span<const Vec3d> points, double voxel_m, OpContext& ctx);

/// The points, or if there are more than `most`: voxel means with an edge that leaves at most that number.
/// first_voxel_m: the edge to try first, > 0.
BulkVector<Vec3d> at_most_points(BulkVector<Vec3d> points, std::size_t most, double first_voxel_m,
                                 OpContext& ctx);

}  // namespace pc
