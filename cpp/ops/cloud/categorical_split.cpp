#include "ops/cloud/categorical_split.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/dtype_fit.h"
#include "core/parallel.h"
#include "core/radix_sort.h"
#include "core/round.h"
#include "ops/cloud/class_counts.h"
#include "ops/cloud/class_set.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr double kDenseSpan = 1 << 20;
constexpr std::uint32_t kNoGroup = 0xffffffffU;

/// Number of a value's group.
class GroupIndex {
 public:
  explicit GroupIndex(const std::vector<double>& values) : values_(values) {
    if (values.empty() || values.back() - values.front() >= kDenseSpan) return;
    table_.resize(static_cast<std::size_t>(values.back() - values.front()) + 1);
    for (std::uint32_t& entry : table_) entry = kNoGroup;
    for (std::size_t g = 0; g < values.size(); ++g)
      table_[static_cast<std::size_t>(values[g] - values.front())] = static_cast<std::uint32_t>(g);
  }
  template <class T>
  std::uint32_t of(T value) const {
    double v = static_cast<double>(value);
    if constexpr (std::is_floating_point_v<T>) v = round_half_even(v);
    if (!(v >= values_.front() && v <= values_.back())) return kNoGroup;
    if (!table_.empty()) return table_[static_cast<std::size_t>(v - values_.front())];
    const auto at = std::lower_bound(values_.begin(), values_.end(), v);
    return *at == v ? static_cast<std::uint32_t>(at - values_.begin()) : kNoGroup;
  }

 private:
  const std::vector<double>& values_;
  BulkVector<std::uint32_t> table_;  ///< empty = search values_
};

/// The kept rows of [base, base + group.size) with their groups, rows counted from `base`.
struct Keyed {
  BulkVector<std::uint32_t> groups, rows;
};

template <class GroupOf>
Keyed keyed_rows(std::size_t n, OpContext& ctx, const GroupOf& group_of) {
  std::vector<std::size_t> starts((n + kGrain - 1) / kGrain + 1, 0);
  parallel_for(ctx, n, kGrain, [&](std::size_t begin, std::size_t end) {
    std::size_t kept = 0;
    for (std::size_t i = begin; i < end; ++i) kept += group_of(i) != kNoGroup ? 1 : 0;
    starts[begin / kGrain + 1] = kept;
  });
  for (std::size_t b = 1; b < starts.size(); ++b) starts[b] += starts[b - 1];
  Keyed keyed{BulkVector<std::uint32_t>(starts.back()), BulkVector<std::uint32_t>(starts.back())};
  parallel_for(ctx, n, kGrain, [&](std::size_t begin, std::size_t end) {
    std::size_t at = starts[begin / kGrain];
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t group = group_of(i);
      if (group == kNoGroup) continue;
      keyed.groups[at] = group;
      keyed.rows[at++] = static_cast<std::uint32_t>(i);
    }
  });
  return keyed;
}

/// Appends sorted rows to their groups; `next` holds the place of each group's next row.
template <class Index>
void append(const Keyed& sorted, std::size_t base, BulkVector<std::uint64_t>& next, Span<Index> order,
            OpContext& ctx) {
  const std::size_t n = sorted.groups.size();
  BulkVector<std::uint64_t> first(next.size()), last(next.size());
  parallel_for(ctx, n, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t group = sorted.groups[i];
      if (i == 0 || sorted.groups[i - 1] != group) first[group] = i;
      if (i + 1 == n || sorted.groups[i + 1] != group) last[group] = i + 1;
    }
  });
  parallel_for(ctx, n, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t group = sorted.groups[i];
      order[next[group] + (i - first[group])] = static_cast<Index>(base + sorted.rows[i]);
    }
  });
  for (std::size_t group = 0; group < next.size(); ++group) next[group] += last[group] - first[group];
}

template <class Index>
void gather(const AnyColumn& from, Span<const Index> rows, AnyColumn& to, std::atomic<bool>& inside,
            OpContext& ctx) {
  const std::size_t size = dtype_size(from.dtype()), limit = from.size();
  std::byte* const out = to.data();
  const auto copy = [&](auto bytes) {
    constexpr std::size_t kSize = decltype(bytes)::value;
    parallel_for(ctx, rows.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (rows[i] >= limit) {
          inside = false;
          return;
        }
        std::memcpy(out + i * kSize, from.data() + static_cast<std::size_t>(rows[i]) * kSize, kSize);
      }
    });
  };
  switch (size) {
    case 1:
      return copy(std::integral_constant<std::size_t, 1>{});
    case 2:
      return copy(std::integral_constant<std::size_t, 2>{});
    case 4:
      return copy(std::integral_constant<std::size_t, 4>{});
    case 6:
      return copy(std::integral_constant<std::size_t, 6>{});
    case 8:
      return copy(std::integral_constant<std::size_t, 8>{});
    default:
      return copy(std::integral_constant<std::size_t, 24>{});
  }
}

}  // namespace

ClassGroups categorical_split_parts::split(const AnyColumn& column, Span<const std::uint8_t> skip,
                                           const std::vector<double>& exclude, const Parts& parts,
                                           OpContext& ctx) {
  const ClassCounts classes = class_counts(column, skip, ctx);
  const ClassSet excluded(exclude);
  ClassGroups groups;
  BulkVector<std::uint64_t> next;
  std::uint64_t total = 0;
  for (std::size_t c = 0; c < classes.values.size(); ++c) {
    if (excluded.holds(classes.values[c])) continue;
    groups.values.push_back(classes.values[c]);
    groups.counts.push_back(classes.counts[c]);
    next.push_back(total);
    total += classes.counts[c];
  }
  groups.order = AnyColumn(parts.index, static_cast<std::size_t>(total));
  if (total == 0) return groups;

  ctx.begin_phase("Ordering points by class", 0);
  const GroupIndex index(groups.values);
  const int key_bits = std::max(1, static_cast<int>(std::bit_width(groups.values.size() - 1)));
  visit_scalar(column, [&](auto values) {
    for (std::size_t base = 0; base < values.size; base += parts.rows_each) {
      const std::size_t n = std::min(parts.rows_each, values.size - base);
      Keyed keyed = keyed_rows(n, ctx, [&](std::size_t i) {
        return skip.empty() || skip[base + i] == 0 ? index.of(values[base + i]) : kNoGroup;
      });
      radix_sort_pairs(keyed.groups.view(), keyed.rows.view(), key_bits, ctx);
      if (parts.index == DType::kU32) {
        append(keyed, base, next, groups.order.as_mutable<std::uint32_t>(), ctx);
      } else {
        append(keyed, base, next, groups.order.as_mutable<std::uint64_t>(), ctx);
      }
    }
  });
  return groups;
}

ClassGroups categorical_split(const AnyColumn& column, Span<const std::uint8_t> skip,
                              const std::vector<double>& exclude, OpContext& ctx) {
  return categorical_split_parts::split(column, skip, exclude,
                                        {row_index_dtype(column.size()), std::size_t{1} << 31}, ctx);
}

std::vector<AnyColumn> take_rows(const std::vector<const AnyColumn*>& columns, const AnyColumn& order,
                                 std::uint64_t first, std::uint64_t count, OpContext& ctx) {
  require(order.dtype() == DType::kU32 || order.dtype() == DType::kU64,
          "order must be a column of u32 or u64");
  require(first <= order.size() && count <= order.size() - first, "first and count lie beyond the order");
  const auto begin = static_cast<std::size_t>(first), rows = static_cast<std::size_t>(count);
  ctx.begin_phase("Slicing clouds", rows * columns.size());
  std::vector<AnyColumn> out;
  std::atomic<bool> inside{true};
  for (const AnyColumn* column : columns) {
    AnyColumn& to = out.emplace_back(column->dtype(), rows);
    if (order.dtype() == DType::kU32) {
      gather(*column, order.as<std::uint32_t>().subspan(begin, rows), to, inside, ctx);
    } else {
      gather(*column, order.as<std::uint64_t>().subspan(begin, rows), to, inside, ctx);
    }
    require(inside, "order has a row beyond the end of a column");
  }
  return out;
}

}  // namespace pc
