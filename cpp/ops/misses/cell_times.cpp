#include "ops/misses/cell_times.h"

#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/memory.h"
#include "ops/misses/known_values.h"

namespace pc {

namespace {

constexpr std::size_t kPoll = std::size_t{1} << 15;
constexpr int kRounds = 4;

class Polish {
 public:
  Polish(Span<const RasterCell> cells, Span<const double> times, OpContext& ctx)
      : cells_(cells), times_(times), ctx_(ctx) {}

  CellTimes fit(std::uint32_t rows, std::uint32_t columns) {
    CellTimes out;
    const auto column_of = [&](std::size_t i) { return cells_[i].column; };
    const auto row_of = [&](std::size_t i) { return cells_[i].row; };
    out.column_s = medians(columns, column_of, [&](std::size_t i) { return times_[i]; });
    const double step = known_values::median_step(out.column_s, false);
    require(std::isfinite(step) && step != 0,
            "the columns of the scan have no different times, so those of its misses are not known");
    known_values::fill_unknown(out.column_s, step);
    const auto off = [&](std::size_t i) { return times_[i] - out.column_s[cells_[i].column]; };
    for (int round = 0; round < kRounds; ++round) {
      out.row_s = medians(rows, row_of, off);
      known_values::fill_unknown(out.row_s, known_values::median_step(out.row_s, false));
      for (double& value : out.row_s)
        if (!std::isfinite(value)) value = 0;
      out.column_s =
          medians(columns, column_of, [&](std::size_t i) { return times_[i] - out.row_s[cells_[i].row]; });
      known_values::fill_unknown(out.column_s, known_values::median_step(out.column_s, false));
    }
    std::vector<double> rest;
    const std::size_t stride = std::max<std::size_t>(1, cells_.size / 200'000);
    for (std::size_t i = 0; i < cells_.size; i += stride)
      if (std::isfinite(times_[i])) rest.push_back(std::fabs(off(i) - out.row_s[cells_[i].row]));
    require(
        known_values::median(rest) <= std::fabs(step) / 2,
        "returns of one column have different times: its number repeats from turn to turn, so the times of "
        "the misses are not known");
    return out;
  }

 private:
  /// The median of value(i) over the returns i of each group.
  template <class GroupOf, class Value>
  std::vector<double> medians(std::size_t count, const GroupOf& group_of, const Value& value) {
    std::vector<std::size_t> firsts(count + 1, 0);
    for (std::size_t i = 0; i < cells_.size; ++i) {
      if (i % kPoll == 0) ctx_.checkpoint();
      if (std::isfinite(times_[i])) ++firsts[group_of(i) + 1];
    }
    std::partial_sum(firsts.begin(), firsts.end(), firsts.begin());
    BulkVector<double> sorted(firsts.back());
    std::vector<std::size_t> at(firsts.begin(), firsts.end() - 1);
    for (std::size_t i = 0; i < cells_.size; ++i) {
      if (i % kPoll == 0) ctx_.checkpoint();
      if (std::isfinite(times_[i])) sorted[at[group_of(i)]++] = value(i);
    }
    std::vector<double> out(count), values;
    for (std::size_t g = 0; g < count; ++g) {
      ctx_.checkpoint();
      values.assign(sorted.data() + firsts[g], sorted.data() + firsts[g + 1]);
      out[g] = known_values::median(values);
    }
    return out;
  }

  Span<const RasterCell> cells_;
  Span<const double> times_;
  OpContext& ctx_;
};

}  // namespace

CellTimes fit_cell_times(Span<const RasterCell> cells, Span<const double> times, std::uint32_t rows,
                         std::uint32_t columns, OpContext& ctx) {
  require(cells.size == times.size, "one time per return is needed");
  for (const RasterCell& cell : cells)
    require(cell.row < rows && cell.column < columns, "a return lies outside the raster");
  return Polish(cells, times, ctx).fit(rows, columns);
}

}  // namespace pc
