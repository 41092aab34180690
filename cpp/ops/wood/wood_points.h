#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "core/vec3.h"

namespace pc {

/// The points that are told apart: all finite ones, or one per voxel.
struct WoodPoints {
  Vec3d origin;                   ///< of the positions
  BulkVector<Vec3d> place;        ///< (m) relative to the origin, in an order of position
  BulkVector<std::uint32_t> row;  ///< (m) row of each; empty if they are voxels
  std::uint64_t finite_count;
  double voxel_m;  ///< edge of the voxels; 0 = all points
};

struct WoodVoxels {
  double voxel_m;             ///< > 0 = voxels of this edge; 0 = auto
  double finest_m;            ///< auto: least edge; 0 = all points if they are at most most_points
  std::uint64_t most_points;  ///< auto: above it the finest voxels that give about that many
};

/// All finite points in the order of a Morton curve, then of x, y, z, or the means of voxels.
///
/// Order    The positions, not the rows, decide; rows at one place keep their order.
/// Cost     O(n) time; 60 bytes per point at the peak, of which 28 stay.
WoodPoints wood_points(HitPoints points, const WoodVoxels& voxels, OpContext& ctx);

/// Labels of all rows: of the point of the same row, or of the nearest voxel (equally near ones: the first). Rows that
/// are not finite get `other`.
void spread_labels(HitPoints points, const WoodPoints& used, Span<const std::uint8_t> labels,
                   std::uint8_t other, Span<std::uint8_t> out, OpContext& ctx);

}  // namespace pc
