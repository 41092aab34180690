#pragma once
#include <cstdint>
#include <optional>

#include "core/hit_points.h"
#include "core/op_context.h"
#include "core/vec3.h"
#include "ops/denoise/noise_result.h"

namespace pc {

struct VoxelCountParams {
  double voxel_m;               ///< edge of a cell, metres, finite and > 0
  std::uint32_t min_points;     ///< least number of points in a clean cell
  std::optional<Vec3d> anchor;  ///< a corner of the grid, finite; none = the least x, y and z of the points
};

/// Voxel count: a point is noise when its cell of a regular grid holds fewer than `min_points` points.
///
/// points   (n) metres, any one Cartesian frame; fewer than 2^32. Rows that are not finite are noise and are not
///          counted in any cell. The cell is floor((p - anchor) / voxel_m) per coordinate, in float64.
/// Order    Labels follow the input; the result does not depend on threads or device (bit-identical).
/// Cost     O(n) time, 12 n bytes of scratch + 16 to 32 bytes per cell of one share of the cloud; the extent of the
///          cloud does not matter. Points more than 2^20 cells from the median are sorted: 32 bytes each.
/// Cancel   Within 250 ms for all allowed parameters; no partial result.
/// Errors   kInvalidArgument for parameters out of range and for 2^32 points or more.
/// Device   kCuda counts and labels in pc_cuda, with bit-identical results; if that is not possible, the CPU does,
///          with a warning.
/// Source   contract classification section 3, "voxel_count".
NoiseResult voxel_count(HitPoints points, const VoxelCountParams& params, OpContext& ctx);

/// The least x, y and z of the finite points; zeros if there are none.
Vec3d least_corner(HitPoints points, OpContext& ctx);

}  // namespace pc
