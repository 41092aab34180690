#pragma once
#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "spatial/raster.h"

namespace pc {

/// Height of points above a terrain without gaps: bilinear between the cell centres, beyond the outermost the value of
/// the nearest one.
///
/// points   (n) metres, frame of the raster; points beside the grid take the terrain at its edge
/// terrain  (cells) metres
/// Order    Heights follow the input; 0 where point or terrain is not finite.
/// Cost     One pass over the points. Cancel within 50 ms.
/// Errors   kInvalidArgument: frame out of range, another number of cells.
/// Source   Contract terrain section 1.4. Deviation: the linear interpolation is that of the filled grid, continuous
///          everywhere; it differs from the triangles only in squares that a side of one crosses.
Column<float> height_above_ground(HitPoints points, const RasterFrame& frame, Span<const double> terrain,
                                  OpContext& ctx);

}  // namespace pc
