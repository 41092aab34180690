#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/vec3.h"

namespace pc {

/// Points of which at most so many are left, one per voxel.
struct ThinnedPoints {
  BulkVector<Vec3d> points;  ///< ascending by x, y, z where thinned
  double voxel_m;            ///< edge of the voxels; NaN where all points are kept
};

/// Thins points to a budget by voxels, which even out the density that a scanner's distance gives; a stride would keep it.
///
/// points      finite, metres
/// max_points  at least 1
/// Method      The smallest edge, within 1 % and not below 1e-4 m, with which no more than max_points voxels of the lattice
///             at the low corner of the box have a point. Tried first: a quarter of the edge of a cube of the box's volume per
///             kept point, raised by 15 % until it fits; then halved, and narrowed by the geometric mean. Each voxel keeps
///             its lowest point by x, then y, then z.
/// Order       A function of the set of points: rows and threads do not matter.
/// Cost        O(n) time per edge tried, about fifteen; 40 bytes per kept point.
/// Cancel      Within 50 ms.
/// Errors      kInvalidArgument for points that are not finite, or more than 1e9 m apart.
/// Source      Contract inventory section 6 but for the narrowing: most of a tree's box is empty, so the first edge is
///             several times too coarse, and voxels as wide as branches join them: a model of twice the wood (ADR 44).
ThinnedPoints thin_points(BulkVector<Vec3d>&& points, std::uint64_t max_points, OpContext& ctx);

}  // namespace pc
