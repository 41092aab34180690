#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "spatial/raster.h"

namespace pc {

struct CellPercentiles {
  Column<double> z;               ///< (cells) metres; NaN = no point in the cell
  std::uint64_t populated_count;  ///< cells that hold a point
};

/// The z that stands for each cell: of its n points, ascending, the one of index floor((n - 1) percentile / 100).
///
/// points      (n) metres, frame of `frame`; points beside the grid and those that are not finite are left out
/// percentile  0 .. 100
/// Order    Does not depend on threads or the order of the points.
/// Cost     Two passes over the points, O(n); 12 bytes a point and 8 bytes a cell of scratch.
/// Cancel   Within 250 ms, also when one cell has all points.
/// Errors   kInvalidArgument: frame or percentile out of range.
/// Source   Contract terrain section 1.4.
CellPercentiles cell_percentiles(HitPoints points, const RasterFrame& frame, double percentile,
                                 OpContext& ctx);

}  // namespace pc
