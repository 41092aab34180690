#include "ops/cloud/column_stats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/memory.h"
#include "core/parallel.h"
#include "ops/cloud/order_select.h"

namespace pc {

namespace {

constexpr double kExactInteger = 0x1.0p53;

/// Up to kMaxDistinctValues integers; open addressing at a load of one half.
class DistinctSet {
 public:
  void add(std::int64_t value) {
    if (overflowed_ || (!values_.empty() && value == values_[last_])) return;
    if (slots_.empty()) slots_.assign(kSlots, 0);
    std::size_t at =
        static_cast<std::size_t>((static_cast<std::uint64_t>(value) * 0x9e3779b97f4a7c15ULL) >> 51);
    for (;; at = (at + 1) % kSlots) {
      if (slots_[at] == 0) break;
      if (values_[slots_[at] - 1U] == value) {
        last_ = slots_[at] - 1U;
        return;
      }
    }
    if (values_.size() == kMaxDistinctValues) {
      overflow();
      return;
    }
    last_ = values_.size();
    values_.push_back(value);
    slots_[at] = static_cast<std::uint16_t>(values_.size());
  }
  void overflow() { overflowed_ = true; }
  bool overflowed() const { return overflowed_; }
  void add(const DistinctSet& other) {
    overflowed_ = overflowed_ || other.overflowed_;
    for (const std::int64_t value : other.values_) add(value);
  }
  std::vector<std::int64_t> sorted() const {
    std::vector<std::int64_t> out = values_;
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  static constexpr std::size_t kSlots = 2 * kMaxDistinctValues;
  static_assert(kSlots == std::size_t{1} << (64 - 51), "the hash keeps the top bits");
  std::vector<std::uint16_t> slots_;  ///< 1 + index into values_
  std::vector<std::int64_t> values_;
  std::size_t last_ = 0;
  bool overflowed_ = false;
};

struct Partial {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  std::uint64_t rows = 0, nans = 0, infinites = 0;
  bool integral = true;
  DistinctSet distinct;

  void add_counts(const Partial& other) {
    min = std::min(min, other.min);
    max = std::max(max, other.max);
    rows += other.rows;
    nans += other.nans;
    infinites += other.infinites;
    integral = integral && other.integral;
  }
};

template <class T>
void add_value(T raw, Partial& local, DistinctSet& distinct) {
  const auto value = static_cast<double>(raw);
  ++local.rows;
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) {
      ++(std::isnan(value) ? local.nans : local.infinites);
      return;
    }
  }
  if (value < local.min) local.min = value;
  if (value > local.max) local.max = value;
  if (!local.integral) return;
  if (!(value >= -kExactInteger && value <= kExactInteger)) {
    distinct.overflow();  // every float64 this large is whole, but it is not listed
    return;
  }
  const auto whole = static_cast<std::int64_t>(value);
  if constexpr (std::is_floating_point_v<T>) {
    if (static_cast<double>(whole) != value) {
      local.integral = false;
      return;
    }
  }
  distinct.add(whole);
}

template <class T>
Partial scan(Span<const T> values, Span<const std::uint8_t> skip, OpContext& ctx) {
  std::vector<Partial> partials(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, values.size, order_select::kGrain,
                      [&](std::size_t begin, std::size_t end, int worker) {
                        Partial& total = partials[static_cast<std::size_t>(worker)];
                        Partial local;
                        local.integral = total.integral;
                        for (std::size_t i = begin; i < end; ++i) {
                          if (skip.empty() || skip[i] == 0) add_value(values[i], local, total.distinct);
                        }
                        total.add_counts(local);
                      });
  Partial all;
  for (const Partial& partial : partials) {
    all.add_counts(partial);
    all.distinct.add(partial.distinct);
  }
  return all;
}

/// Statistics by comparing values.
template <class T>
ColumnStats scanned_stats(Span<const T> values, Span<const std::uint8_t> skip, OpContext& ctx) {
  const Partial all = scan(values, skip, ctx);
  ColumnStats stats{};
  stats.row_count = all.rows;
  stats.nan_count = all.nans;
  stats.infinite_count = all.infinites;
  stats.finite_count = all.rows - all.nans - all.infinites;
  if (stats.finite_count == 0) return stats;
  stats.min = all.min + 0.0;  // never -0
  stats.max = all.max + 0.0;
  stats.is_constant = all.min == all.max;
  stats.is_integral = all.integral;
  if (all.integral && !all.distinct.overflowed()) stats.distinct = all.distinct.sorted();
  if (stats.is_constant) {
    stats.p1 = stats.p99 = stats.min;
    ctx.advance(values.size);  // progress of the pass that is skipped
    return stats;
  }

  std::vector<PercentileQuery> queries{{0, 0.01, 0.0}, {0, 0.99, 0.0}};
  select_percentiles<1>(ctx, values.size, stats.finite_count, {{all.min, all.max}}, queries,
                        [&](std::size_t i, std::array<double, 1>& out) {
                          if (!skip.empty() && skip[i] != 0) return false;
                          out[0] = static_cast<double>(values[i]);
                          return std::isfinite(out[0]);
                        });
  stats.p1 = queries[0].value;
  stats.p99 = queries[1].value;
  return stats;
}

/// Rows per value of a type of few values, counted by one thread.
template <class T>
class ValueCounts {
 public:
  static constexpr std::size_t kValues = std::size_t{1} << (8 * sizeof(T));

  void add(const T* values, const std::uint8_t* skip, std::size_t count) {
    if (counts_.empty()) counts_.resize(kParts * kValues);
    if (skip != nullptr) {
      for (std::size_t i = 0; i < count; ++i) counts_[index(values[i])] += skip[i] == 0;
      return;
    }
    // Whole columns of scans are constant, and a counter takes one addition every few cycles.
    if (std::memcmp(values, values + 1, (count - 1) * sizeof(T)) == 0) {
      counts_[index(values[0])] += count;
      return;
    }
    std::size_t i = 0;
    for (; i + kParts <= count; i += kParts)
      for (std::size_t part = 0; part < kParts; ++part) ++counts_[part * kValues + index(values[i + part])];
    for (; i < count; ++i) ++counts_[index(values[i])];
  }
  std::uint64_t of(T value) const {
    std::uint64_t sum = 0;
    for (std::size_t part = 0; part < kParts && !counts_.empty(); ++part)
      sum += counts_[part * kValues + index(value)];
    return sum;
  }

 private:
  static constexpr std::size_t kParts = sizeof(T) == 1 ? 4 : 1;  // more of the large tables leave the caches
  static std::size_t index(T value) { return static_cast<std::make_unsigned_t<T>>(value); }
  BulkVector<std::uint64_t> counts_;
};

/// Statistics by counting each value of the type.
template <class T>
ColumnStats counted_stats(Span<const T> values, Span<const std::uint8_t> skip, OpContext& ctx) {
  std::vector<ValueCounts<T>> parts(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, values.size, order_select::kGrain,
                      [&](std::size_t begin, std::size_t end, int worker) {
                        parts[static_cast<std::size_t>(worker)].add(
                            values.data + begin, skip.empty() ? nullptr : skip.data + begin, end - begin);
                      });
  ctx.advance(values.size);  // progress of the pass that is skipped

  std::vector<std::int64_t> distinct;
  std::vector<std::uint64_t> rows_upto;  // rows with this distinct value or a smaller one
  std::uint64_t rows = 0;
  for (std::int64_t v = std::numeric_limits<T>::min(); v <= std::numeric_limits<T>::max(); ++v) {
    std::uint64_t count = 0;
    for (const ValueCounts<T>& part : parts) count += part.of(static_cast<T>(v));
    if (count == 0) continue;
    distinct.push_back(v);
    rows_upto.push_back(rows += count);
  }
  ColumnStats stats{};
  stats.row_count = stats.finite_count = rows;
  if (rows == 0) return stats;
  const auto value_at = [&](std::uint64_t rank) {
    const auto found = std::upper_bound(rows_upto.begin(), rows_upto.end(), rank);
    return static_cast<double>(distinct[static_cast<std::size_t>(found - rows_upto.begin())]);
  };
  const auto percentile = [&](double fraction) {
    const PercentileRank rank = percentile_rank(rows, fraction);
    return percentile_between(value_at(rank.low), value_at(rank.high), rank.weight);
  };
  stats.min = static_cast<double>(distinct.front());
  stats.max = static_cast<double>(distinct.back());
  stats.p1 = percentile(0.01);
  stats.p99 = percentile(0.99);
  stats.is_constant = distinct.size() == 1;
  stats.is_integral = true;
  if (distinct.size() <= kMaxDistinctValues) stats.distinct = std::move(distinct);
  return stats;
}

template <class T>
ColumnStats stats_of(Span<const T> values, Span<const std::uint8_t> skip, OpContext& ctx) {
  if constexpr (sizeof(T) <= 2) {
    if (values.size >= ValueCounts<T>::kValues) return counted_stats(values, skip, ctx);
  }
  return scanned_stats(values, skip, ctx);
}

}  // namespace

std::vector<ColumnStats> column_stats(const std::vector<const AnyColumn*>& columns,
                                      Span<const std::uint8_t> skip, OpContext& ctx) {
  std::vector<ColumnStats> results;
  if (columns.empty()) return results;
  const std::size_t rows = columns.front()->size();
  for (const AnyColumn* column : columns) {
    require(column->size() == rows, "the columns must have equal lengths");
    require(column->dtype() != DType::kVec3d && column->dtype() != DType::kRgb16,
            "the columns must be scalar");
  }
  require(skip.empty() || skip.size == rows, "the skip mask must have one entry per row");
  ctx.begin_phase("Measuring columns", 2 * rows * columns.size());
  results.reserve(columns.size());
  for (const AnyColumn* column : columns) {
    results.push_back(visit_scalar(*column, [&](auto values) { return stats_of(values, skip, ctx); }));
  }
  return results;
}

ColumnStats column_stats(const AnyColumn& column, Span<const std::uint8_t> skip, OpContext& ctx) {
  return column_stats(std::vector<const AnyColumn*>{&column}, skip, ctx).front();
}

}  // namespace pc
