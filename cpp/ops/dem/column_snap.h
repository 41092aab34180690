#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/vec3.h"
#include "spatial/raster.h"

namespace pc {

/// The columns of a voxel grid whose floor is at center.z - size.z / 2.
struct VoxelColumns {
  Vec3d center, size;      ///< metres; sizes > 0
  std::uint32_t nx, ny;    ///< >= 1
  double rotation_deg;     ///< about the vertical through the centre, counter-clockwise
  double voxel_height;     ///< metres, > 0
  double safety_fraction;  ///< clearance as a share of one voxel's height, >= 0
};

struct ColumnSnapResult {
  Column<double> offsets;     ///< (nx * ny), number j * nx + i: metres upwards; 0 for a dropped column
  Column<std::uint8_t> kept;  ///< (nx * ny) 1 = the column is on the terrain
  std::uint64_t dropped_count = 0;
};

/// Most columns of a grid.
constexpr std::uint64_t kMaxVoxelColumns = 4'000'000;

/// How far each column must be lifted to clear the terrain. The ground of a column is the highest of 3 x 3 samples of
/// its rotated footprint (corners, edge midpoints, centre), so that the whole lower face clears it. The lift is
/// ground + safety_fraction voxel_height - floor.
///
/// terrain  (frame.cells()) metres, row 0 at the lowest y; a value that is not finite is replaced by that of the
///          nearest finite cell
/// Order    j * nx + i. Samples are bilinear between cell centres. A sample farther than 1e-6 of a cell outside the
///          raster does not count; a column without samples on the raster is dropped.
/// Cost     O(columns + cells). Cancel within 250 ms.
/// Errors   kInvalidArgument: frame or columns out of range, wrong number of cells, a terrain without finite heights.
/// Source   Contract lad section 2.
ColumnSnapResult column_snap(const VoxelColumns& columns, const RasterFrame& frame,
                             Span<const double> terrain, OpContext& ctx);

}  // namespace pc
