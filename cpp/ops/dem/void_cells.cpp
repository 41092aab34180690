#include "ops/dem/void_cells.h"

#include <atomic>
#include <cmath>
#include <limits>

#include "core/parallel.h"

namespace pc {

VoidCellsResult void_cells(Span<const double> values, std::optional<double> nodata, OpContext& ctx) {
  ctx.begin_phase("Reading the terrain", values.size);
  VoidCellsResult result{Column<double>(values.size), 0};
  std::atomic<std::uint64_t> heights{0};
  parallel_for(ctx, values.size, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
    std::uint64_t found = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const bool is_void = std::isnan(values[i]) || (nodata && values[i] == *nodata);
      result.heights[i] = is_void ? std::numeric_limits<double>::quiet_NaN() : values[i];
      found += is_void ? 0 : 1;
    }
    heights += found;
  });
  result.height_count = heights;
  return result;
}

}  // namespace pc
