#include "ops/cloud/categorical_split.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <type_traits>

#include "core/dtype_fit.h"
#include "core/gather.h"
#include "core/parallel.h"
#include "core/round.h"
#include "ops/cloud/class_counts.h"
#include "ops/cloud/class_set.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr std::size_t kGroupGrain = 16;
constexpr double kDenseSpan = 1 << 20;
constexpr std::uint32_t kNoGroup = 0xffffffffU;

/// Maps a value to the number of its group.
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

/// Writes the rows of every group one after the other, ascending. `first` holds the position of each group's first row.
template <class Index, class GroupOf>
void distribute(std::size_t n, const BulkVector<std::uint64_t>& first, const GroupOf& group_of,
                Span<Index> order, OpContext& ctx) {
  // At least eight rows per group in a block: `places` then takes at most one byte per row.
  const std::size_t groups = first.size(), grain = std::max(kGrain, 8 * groups);
  const std::size_t blocks = (n + grain - 1) / grain;
  BulkVector<std::uint64_t> places(blocks * groups);  // rows per block and group, then their positions
  parallel_for(ctx, n, grain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t* const count = places.data() + begin / grain * groups;
    for (std::size_t i = begin; i < end; ++i) {
      if (i % kGrain == 0) ctx.checkpoint();
      const std::uint32_t group = group_of(i);
      if (group != kNoGroup) ++count[group];
    }
  });
  parallel_for(ctx, groups, kGroupGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t group = begin; group < end; ++group) {
      std::uint64_t at = first[group];
      for (std::size_t place = group; place < places.size(); place += groups) {
        const std::uint64_t count = places[place];
        places[place] = at;
        at += count;
      }
    }
  });
  parallel_for(ctx, n, grain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t* const place = places.data() + begin / grain * groups;
    for (std::size_t i = begin; i < end; ++i) {
      if (i % kGrain == 0) ctx.checkpoint();
      const std::uint32_t group = group_of(i);
      if (group != kNoGroup) order[place[group]++] = static_cast<Index>(i);
    }
  });
}

template <class Index>
void take(const AnyColumn& from, Span<const Index> rows, AnyColumn& to, std::atomic<bool>& inside,
          OpContext& ctx) {
  const std::size_t size = dtype_size(from.dtype()), limit = from.size();
  std::byte* const out = to.data();
  parallel_for(ctx, rows.size, kGrain, [&](std::size_t begin, std::size_t end) {
    const Span<const Index> part = rows.subspan(begin, end - begin);
    if (std::any_of(part.begin(), part.end(), [&](Index row) { return row >= limit; })) {
      inside = false;
      return;
    }
    gather_rows(size, from.data(), part.data, part.size, out + begin * size);
  });
}

}  // namespace

ClassGroups categorical_split_parts::split(const AnyColumn& column, Span<const std::uint8_t> skip,
                                           const std::vector<double>& exclude, DType order, OpContext& ctx) {
  const ClassCounts classes = class_counts(column, skip, ctx);
  const ClassSet excluded(exclude);
  ClassGroups groups;
  BulkVector<std::uint64_t> first;
  std::uint64_t total = 0;
  for (std::size_t c = 0; c < classes.values.size(); ++c) {
    if (excluded.holds(classes.values[c])) continue;
    groups.values.push_back(classes.values[c]);
    groups.counts.push_back(classes.counts[c]);
    first.push_back(total);
    total += classes.counts[c];
  }
  groups.order = AnyColumn(order, static_cast<std::size_t>(total));
  if (total == 0) return groups;

  ctx.begin_phase("Ordering points by class", 0);
  const GroupIndex index(groups.values);
  visit_scalar(column, [&](auto values) {
    const auto group_of = [&](std::size_t i) {
      return skip.empty() || skip[i] == 0 ? index.of(values[i]) : kNoGroup;
    };
    if (order == DType::kU32) {
      distribute(values.size, first, group_of, groups.order.as_mutable<std::uint32_t>(), ctx);
    } else {
      distribute(values.size, first, group_of, groups.order.as_mutable<std::uint64_t>(), ctx);
    }
  });
  return groups;
}

ClassGroups categorical_split(const AnyColumn& column, Span<const std::uint8_t> skip,
                              const std::vector<double>& exclude, OpContext& ctx) {
  return categorical_split_parts::split(column, skip, exclude, row_index_dtype(column.size()), ctx);
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
      take(*column, order.as<std::uint32_t>().subspan(begin, rows), to, inside, ctx);
    } else {
      take(*column, order.as<std::uint64_t>().subspan(begin, rows), to, inside, ctx);
    }
    require(inside, "order has a row beyond the end of a column");
  }
  return out;
}

}  // namespace pc
