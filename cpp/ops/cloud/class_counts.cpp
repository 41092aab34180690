#include "ops/cloud/class_counts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "core/float_bits.h"
#include "core/parallel.h"
#include "core/radix_sort.h"
#include "core/round.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr std::size_t kSortedPart = std::size_t{1} << 22;
constexpr double kDenseSpan = 1 << 20;

bool kept(Span<const std::uint8_t> skip, std::size_t i) { return skip.empty() || skip[i] == 0; }

/// The class of a value; not finite if it has none.
template <class T>
double class_of(T value) {
  if constexpr (std::is_floating_point_v<T>) return round_half_even(static_cast<double>(value)) + 0.0;
  return static_cast<double>(value);
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
};

template <class T>
Range class_range(Span<const T> values, Span<const std::uint8_t> skip, OpContext& ctx) {
  if constexpr (sizeof(T) <= 2) {
    ctx.advance(values.size);  // progress of the pass that is skipped
    return {static_cast<double>(std::numeric_limits<T>::lowest()),
            static_cast<double>(std::numeric_limits<T>::max())};
  }
  std::vector<Range> ranges(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    Range range = ranges[static_cast<std::size_t>(worker)];
    for (std::size_t i = begin; i < end; ++i) {
      const double v = class_of(values[i]);
      if (!std::isfinite(v) || !kept(skip, i)) continue;
      range.low = std::min(range.low, v);
      range.high = std::max(range.high, v);
    }
    ranges[static_cast<std::size_t>(worker)] = range;
  });
  Range all;
  for (const Range& range : ranges) {
    all.low = std::min(all.low, range.low);
    all.high = std::max(all.high, range.high);
  }
  return all;
}

/// Counts classes within kDenseSpan of each other: one counter per class and thread.
template <class T>
ClassCounts count_dense(Span<const T> values, Span<const std::uint8_t> skip, const Range& range,
                        OpContext& ctx) {
  const auto span = static_cast<std::size_t>(range.high - range.low) + 1;
  std::vector<BulkVector<std::uint64_t>> counters(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    auto& counter = counters[static_cast<std::size_t>(worker)];
    if (counter.empty()) counter.resize(span);
    for (std::size_t i = begin; i < end; ++i) {
      if (!kept(skip, i)) continue;
      const double v = class_of(values[i]);
      if (std::isfinite(v)) ++counter[static_cast<std::size_t>(v - range.low)];
    }
  });
  ClassCounts result;
  for (std::size_t c = 0; c < span; ++c) {
    std::uint64_t count = 0;
    for (const auto& counter : counters) count += counter.empty() ? 0 : counter[c];
    if (count == 0) continue;
    result.values.push_back(range.low + static_cast<double>(c) + 0.0);
    result.counts.push_back(count);
  }
  return result;
}

void add_class(ClassCounts& to, double value, std::uint64_t count) {
  if (!to.values.empty() && to.values.back() == value) {
    to.counts.back() += count;
    return;
  }
  if (to.values.size() == kMaxClasses) {
    throw Error(ErrorCode::kInvalidArgument, "the column has more than " + std::to_string(kMaxClasses) +
                                                 " distinct values; it holds no classes");
  }
  to.values.push_back(value);
  to.counts.push_back(count);
}

/// Adds the classes of sorted keys to those counted so far.
ClassCounts merged(const ClassCounts& before, Span<const std::uint64_t> keys) {
  ClassCounts all;
  std::size_t at = 0;
  for (std::size_t i = 0, next = 0; i < keys.size; i = next) {
    for (next = i; next < keys.size && keys[next] == keys[i];) ++next;
    const double value = double_of_ordered(keys[i]);
    for (; at < before.values.size() && before.values[at] <= value; ++at)
      add_class(all, before.values[at], before.counts[at]);
    add_class(all, value, next - i);
  }
  for (; at < before.values.size(); ++at) add_class(all, before.values[at], before.counts[at]);
  return all;
}

template <class T>
ClassCounts count_sorted(Span<const T> values, Span<const std::uint8_t> skip, OpContext& ctx) {
  ClassCounts all;
  BulkVector<std::uint64_t> keys;
  BulkVector<std::uint32_t> unused;
  for (std::size_t begin = 0; begin < values.size; begin += kSortedPart) {
    keys.clear();
    keys.reserve(std::min(kSortedPart, values.size - begin));
    for (std::size_t i = begin; i < std::min(values.size, begin + kSortedPart); ++i) {
      if (i % kGrain == 0) ctx.checkpoint();
      const double v = class_of(values[i]);
      if (std::isfinite(v) && kept(skip, i)) keys.push_back(ordered_bits(v));
    }
    unused.resize(keys.size());
    radix_sort_pairs(keys.view(), unused.view(), 64, ctx);
    all = merged(all, keys.view());
  }
  return all;
}

}  // namespace

ClassCounts class_counts(const AnyColumn& column, Span<const std::uint8_t> skip, OpContext& ctx) {
  require(skip.empty() || skip.size == column.size(), "the skip mask must have one entry per row");
  ctx.begin_phase("Counting classes", 2 * column.size());
  return visit_scalar(column, [&](auto values) -> ClassCounts {
    const Range range = class_range(values, skip, ctx);
    if (!(range.low <= range.high)) return {};
    if (range.high - range.low < kDenseSpan) return count_dense(values, skip, range, ctx);
    return count_sorted(values, skip, ctx);
  });
}

}  // namespace pc
