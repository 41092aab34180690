#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// Columns of one row whose centres lie in a hull: first to last, both included; first > last = none.
struct HullRow {
  std::int64_t first, last;
};

struct RasterHull {
  BulkVector<HullRow> rows;  ///< (ny)
  bool degenerate;           ///< all marked centres lie on one line, or there are none

  bool contains(std::size_t column, std::size_t row) const {
    const auto i = static_cast<std::int64_t>(column);
    return i >= rows[row].first && i <= rows[row].last;
  }
};

/// Convex hull of the centres of marked cells, row by row. Exact: integer arithmetic.
///
/// marked   (nx * ny) non-zero = marked
/// Cost     O(cells) time: one pass over the cells. Cancel within 50 ms.
/// Source   Andrew 1979, Information Processing Letters 9, monotone chain over the extremes of each row.
RasterHull raster_hull(std::uint32_t nx, std::uint32_t ny, Span<const std::uint8_t> marked, OpContext& ctx);

}  // namespace pc
