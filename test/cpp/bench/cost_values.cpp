#include <array>

#include "cost_case.h"
#include "ops/cloud/categorical_split.h"
#include "ops/cloud/channel_scale.h"
#include "ops/cloud/class_counts.h"
#include "ops/cloud/column_stats.h"
#include "ops/cloud/convert.h"
#include "ops/cloud/merge_frames.h"
#include "ops/cloud/order_select.h"
#include "ops/cloud/paint_labels.h"
#include "ops/cloud/transform.h"
#include "ops/denoise/beam_origins.h"

namespace pc::bench {

namespace {

constexpr std::size_t kRows = 200'000;

using ColumnRun = std::function<void(const AnyColumn&, OpContext&)>;

/// Percentiles of a column of finite values.
void select_percentiles_of(const AnyColumn& column, OpContext& ctx) {
  const auto values = column.as<double>();
  double least = HUGE_VAL, most = -HUGE_VAL;
  for (const double value : values) least = std::min(least, value), most = std::max(most, value);
  std::vector<PercentileQuery> queries{{0, 0.01, 0}, {0, 0.5, 0}, {0, 0.99, 0}};
  select_percentiles<1>(ctx, values.size, values.size, {{least, most}}, queries,
                        [&](std::size_t i, std::array<double, 1>& row) {
                          row[0] = values[i];
                          return true;
                        });
}

void paint_half(const AnyColumn& column, OpContext& ctx) {
  Column<std::uint8_t> selected(column.size());
  for (std::size_t i = 0; i < column.size(); ++i) selected[i] = i / 64 % 2 == 0 ? 1 : 0;
  paint_labels({&column, const_view(selected), {}, 3, std::nullopt, {7, 1000}}, ctx);
}

void undo_paint(const AnyColumn& column, OpContext& ctx) {
  Column<std::uint32_t> rows((column.size() + 1) / 2);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint32_t>(2 * i);
  const std::size_t count = rows.size();
  const AnyColumn set(std::move(rows));
  Column<double> one(1);
  one[0] = 5;
  set_labels(column, {RowEncoding::kRows, &set, count}, AnyColumn(std::move(one)), ctx);
}

std::vector<std::pair<const char*, ColumnRun>> column_ops() {
  using C = const AnyColumn&;
  using X = OpContext&;
  return {
      {"column_stats", [](C column, X ctx) { column_stats(column, {}, ctx); }},
      {"channel_scale", [](C column, X ctx) { scale_intensity(column, {}, ctx); }},
      {"class_counts", [](C column, X ctx) { class_counts(column, {}, ctx); }},
      {"categorical_split", [](C column, X ctx) { categorical_split(column, {}, {}, ctx); }},
      {"order_select", select_percentiles_of},
      {"paint_labels", paint_half},
      {"paint_labels set_labels", undo_paint},
      {"transform scale_column", [](C column, X ctx) { scale_column(column, 0.5, ctx); }},
      {"transform verticality", [](C column, X ctx) { verticality(column, ctx); }},
      {"convert interleave_triple",
       [](C column, X ctx) {
         interleave_triple(column, column, column, 2, {1, 2, 3}, ctx);
       }},
      {"convert float_copy",
       [](C column, X ctx) {
         float_copy(column, {{1, 2, 3}, 65535, true}, ctx);
       }},
      {"convert double_copy", [](C column, X ctx) { double_copy(column, ctx); }},
      {"merge_frames",
       [](C column, X ctx) {
         merge_frames({{&column, column.size(), {}, {}, {}}, {nullptr, column.size(), {}, {}, {}}},
                      {DType::kF64, 0}, ctx);
       }},
      {"beam_origins",
       [](C column, X ctx) {
         const std::vector<ScanOrigin> scans{{7, {1, 2, 3}}, {0, {4, 5, 6}}, {1000, {7, 8, 9}}};
         beam_origins_of_scans(column, {scans.data(), scans.size()}, ctx);
       }},
  };
}

bool may_take(const std::string& op, const std::string& values) {
  const bool not_a_number = values == "one NaN" || values == "all NaN";
  return !(op == "order_select" && not_a_number);
}

/// Parts of a merge and groups of a split: their number grows, the rows do not.
void add_part_costs(CostCases& cases) {
  cases.push_back(
      {"merge_frames", "many parts", 5000,
       prepared(
           [](std::size_t n) {
             return std::pair{value_column(worst_values()[0], 40), n};
           },
           [](auto& input, OpContext& ctx) {
             const AnyColumn column = [&] {
               Column<double> copy(input.first.size());
               return AnyColumn(std::move(copy));
             }();
             const std::vector<MergePart> parts(input.second, MergePart{&column, column.size(), {}, {}, {}});
             merge_frames(parts, {DType::kF64, 0}, ctx);
           }),
       1, HUGE_VAL});
  cases.push_back(
      {"categorical_split take_rows", "random order", 15 * kRows,
       prepared(
           [](std::size_t n) {
             Column<std::uint32_t> order(n);
             for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(random_u64(9, i) % n);
             return std::pair{AnyColumn(value_column(worst_values()[0], n)), AnyColumn(std::move(order))};
           },
           [](auto& input, OpContext& ctx) {
             take_rows({&input.first}, input.second, 0, input.first.size(), ctx);
           })});
  cases.push_back({"beam_origins", "many scans", 4000,
                   prepared(
                       [](std::size_t n) {
                         std::vector<ScanOrigin> scans;
                         for (std::size_t i = 0; i < n; ++i)
                           scans.push_back({static_cast<double>(i), {1, 2, 3}});
                         Column<double> rows(8 * n);
                         for (std::size_t i = 0; i < rows.size(); ++i)
                           rows[i] = static_cast<double>(n - 1 - i % n);
                         return std::pair{AnyColumn(std::move(rows)), scans};
                       },
                       [](auto& input, OpContext& ctx) {
                         beam_origins_of_scans(input.first, {input.second.data(), input.second.size()}, ctx);
                       }),
                   1, HUGE_VAL});
}

/// Classes that span more than 2^20 are sorted, and searched for (class_counts.h, categorical_split.h).
double slower_than_few_classes(const std::string& op, const std::string& input) {
  const bool wide = input == "one huge" || input == "huge classes" || input == "wide integers";
  if (!wide) return 1;
  return op == "class_counts" ? 30 : op == "categorical_split" ? 45 : 1;
}

}  // namespace

void add_value_costs(CostCases& cases) {
  for (const auto& [op, run] : column_ops()) {
    for (const WorstValues& values : worst_values()) {
      if (!may_take(op, values.name)) continue;
      cases.push_back({op, values.name, kRows,
                       prepared([values](std::size_t n) { return AnyColumn(value_column(values, n)); }, run),
                       1, slower_than_few_classes(op, values.name)});
    }
  }
  for (const char* op : {"column_stats", "class_counts", "categorical_split"}) {
    const ColumnRun run = [&] {
      for (const auto& [name, found] : column_ops())
        if (std::string(name) == op) return found;
      return ColumnRun{};
    }();
    const auto bytes = [](std::size_t n) {
      Column<std::uint8_t> column(n);
      for (std::size_t i = 0; i < n; ++i) column[i] = static_cast<std::uint8_t>(random_u64(3, i));
      return AnyColumn(std::move(column));
    };
    const auto wide = [](std::size_t n) {
      Column<std::int64_t> column(n);
      for (std::size_t i = 0; i < n; ++i)
        column[i] = static_cast<std::int64_t>(random_u64(3, i) % 500'000) * (std::int64_t{1} << 40);
      return AnyColumn(std::move(column));
    };
    cases.push_back({op, "bytes", kRows, prepared(bytes, run)});
    cases.push_back(
        {op, "wide integers", kRows, prepared(wide, run), 1, slower_than_few_classes(op, "wide integers")});
  }
  add_part_costs(cases);
}

}  // namespace pc::bench
