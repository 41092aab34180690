#pragma once
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/misses/scan_raster.h"

namespace pc {

/// When the pulses of a raster were fired: a time of the column and one of the row, added.
struct CellTimes {
  std::vector<double> row_s;     ///< (rows)
  std::vector<double> column_s;  ///< (columns)
};

/// Finds the times of rows and columns from those of the returns.
///
/// cells    (n) of the returns
/// times    (n) seconds; those that are not finite do not count
/// Order    A function of the returns alone, for any thread count.
/// Cost     O(n) expected; 16 bytes per return. Cancel within 250 ms.
/// Errors   kInvalidArgument: no finite time in at least two columns, or half of the returns are more than half a column's
///          step off: the columns of several turns share a number.
/// Source   Median polish, four rounds (Tukey 1977, Exploratory Data Analysis, chapter 11).
CellTimes fit_cell_times(Span<const RasterCell> cells, Span<const double> times, std::uint32_t rows,
                         std::uint32_t columns, OpContext& ctx);

}  // namespace pc
