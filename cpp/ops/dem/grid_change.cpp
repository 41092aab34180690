#include "ops/dem/grid_change.h"

#include <cmath>
#include <cstddef>

#include "core/error.h"

namespace pc {

namespace {

constexpr std::size_t kPollEvery = std::size_t{1} << 16;

}  // namespace

GridChange grid_change(Span<const double> first, Span<const double> second, double above, OpContext& ctx) {
  require(first.size == second.size, "the grids must have equal sizes");
  GridChange out{0, 0, 0, 0};
  for (std::size_t c = 0; c < first.size; ++c) {
    if (c % kPollEvery == 0) ctx.checkpoint();
    if (!(first[c] > above) || std::isnan(second[c])) continue;
    const double change = first[c] - second[c];
    ++out.cells;
    out.mean_value += first[c];
    out.mean_change += change;
    out.rms_change += change * change;
  }
  const auto count = static_cast<double>(out.cells);  // 0 gives NaN
  out.mean_value /= count;
  out.mean_change /= count;
  out.rms_change = std::sqrt(out.rms_change / count);
  return out;
}

GridJumps grid_jumps(Span<const double> first, Span<const double> second, double least, OpContext& ctx) {
  require(first.size == second.size, "the grids must have equal sizes");
  GridJumps out{0, 0, 0, 0};
  for (std::size_t c = 0; c < first.size; ++c) {
    if (c % kPollEvery == 0) ctx.checkpoint();
    const double change = std::abs(first[c] - second[c]);
    if (std::isnan(change)) continue;
    ++out.cells;
    out.changed += change > least ? 1 : 0;
    if (change > out.largest) {
      out.largest = change;
      out.cell = c;
    }
  }
  return out;
}

}  // namespace pc
