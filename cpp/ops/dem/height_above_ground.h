#pragma once
#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "spatial/raster.h"

namespace pc {

/// Height of points above a terrain without voids. The terrain is bilinear between cell centres; beyond the outermost
/// centres it has the value of the nearest one.
///
/// points   (n) metres, frame of the raster; points outside the grid are compared with the terrain at its edge
/// terrain  (cells) metres
/// Order    Heights follow the input; 0 if point or terrain is not finite.
/// Cost     O(n) time: one pass over the points. Cancel within 50 ms.
/// Errors   kInvalidArgument: frame out of range, wrong number of cells.
/// Source   Contract terrain section 1.4. Deviation: the filled grid is interpolated, which is continuous everywhere;
///          it differs from the triangles only in squares that a triangle side crosses.
Column<float> height_above_ground(HitPoints points, const RasterFrame& frame, Span<const double> terrain,
                                  OpContext& ctx);

/// Half of the points lie higher above a terrain than this, metres, to half a millimetre; NaN if no point lies within 2 m of it. Points
/// beside voids and farther than 2 m from the terrain count nowhere.
///
/// Order, cost, cancel and errors as of height_above_ground; 32 kB per thread.
double median_above_ground(HitPoints points, const RasterFrame& frame, Span<const double> terrain,
                           OpContext& ctx);

}  // namespace pc
