#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "spatial/raster.h"

namespace pc {

/// Position of a point in its cell: offset from the centre, in cells, -0.5 .. 0.5, in steps of 2^-24.
struct CellPlace {
  float x, y;
};

struct CellPercentiles {
  Column<double> z;               ///< (cells) metres; NaN = no point in the cell
  BulkVector<CellPlace> place;    ///< (cells) of the point with that z; 0 = no point in the cell
  std::uint64_t populated_count;  ///< cells that hold a point
};

/// The point that represents each cell: of its n points, sorted by z, the one with index floor((n - 1) percentile /
/// 100), above the median rounded up: the 5th percentile of up to 20 points is the lowest, the 95th the highest. Of points with equal z the one nearest to the centre, then the one with the lowest x, then y.
///
/// points      (n) metres, frame of `frame`; points outside the grid and points that are not finite are left out
/// percentile  0 .. 100
/// Order    Does not depend on threads or the order of the points.
/// Cost     Two passes over the points and one over their values, O(n); 17 bytes of scratch per point.
/// Cancel   Within 250 ms, even if one cell contains all points.
/// Errors   kInvalidArgument: frame or percentile out of range.
/// Source   Contract terrain section 1.4, which always rounds down (docs/adr/0043); points are grouped by cell as in McIlroy, Bostic & McIlroy 1993, "Engineering
///          radix sort", American flag sort, in bands of cells that fit in a cache.
CellPercentiles cell_percentiles(HitPoints points, const RasterFrame& frame, double percentile,
                                 OpContext& ctx);

}  // namespace pc
