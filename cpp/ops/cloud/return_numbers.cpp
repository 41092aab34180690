#include "ops/cloud/return_numbers.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "ops/cloud/miss_detection.h"
#include "ops/cloud/return_numbering.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 17;
constexpr std::uint8_t kMiss = static_cast<std::uint8_t>(kSkyTargetIndex);

/// A column of whole numbers from 0 to 255.
struct Bytes {
  BulkVector<std::uint8_t> values;
  bool whole = true;  ///< false: a value is another one
};

Bytes bytes_of(const AnyColumn& column, OpContext& ctx) {
  Bytes out{BulkVector<std::uint8_t>(column.size())};
  std::atomic<bool> whole{true};
  visit_scalar(column, [&](auto values) {
    parallel_for(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto value = static_cast<double>(values[i]);
        const bool good = value >= 0 && value <= 255 && std::trunc(value) == value;
        out.values[i] = good ? static_cast<std::uint8_t>(value) : std::uint8_t{0};
        if (!good) whole.store(false, std::memory_order_relaxed);
      }
    });
  });
  out.whole = whole.load();
  return out;
}

struct LasReturn {
  int number, count;
};

/// Of a return whose pulse numbers its returns from `first`; not shortened.
LasReturn las_return(std::uint8_t index, std::uint8_t count, int first) {
  if (index == kMiss) return {1, 1};
  const int number = std::max(1, index - first + 1);
  return {number, std::max<int>(count, number)};
}

std::uint8_t shortened(int value) { return static_cast<std::uint8_t>(std::min<int>(value, kMostLasReturn)); }

/// Whether accept(row) holds for a row.
template <class Accept>
bool any_row(std::size_t count, const Accept& accept, OpContext& ctx) {
  std::atomic<bool> found{false};
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end && !found.load(std::memory_order_relaxed); ++i)
      if (accept(i)) found.store(true, std::memory_order_relaxed);
  });
  return found.load();
}

bool begins_at_zero(const AnyColumn& index, const AnyColumn& count, OpContext& ctx) {
  return return_numbering(index, &count, {}, ctx).from_zero();
}

}  // namespace

ReturnNumbers return_numbers(const AnyColumn& target_index, const AnyColumn& target_count, OpContext& ctx) {
  const std::size_t n = target_index.size();
  require(target_count.size() == n, "one value per row is needed");
  const Bytes index = bytes_of(target_index, ctx), count = bytes_of(target_count, ctx);
  ReturnNumbers out{};
  out.usable = index.whole && count.whole;
  if (!out.usable) return out;
  const bool from_zero = begins_at_zero(target_index, target_count, ctx);
  out.number = Column<std::uint8_t>(n);
  out.count = Column<std::uint8_t>(n);
  std::atomic<std::uint64_t> changed{0}, long_pulses{0};
  parallel_for(ctx, n, kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t other = 0, cut = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const LasReturn found = las_return(index.values[i], count.values[i], from_zero ? 0 : 1);
      out.number[i] = shortened(found.number);
      out.count[i] = shortened(found.count);
      other += out.number[i] != index.values[i] || out.count[i] != count.values[i] ? 1 : 0;
      cut += found.count > kMostLasReturn ? 1 : 0;
    }
    changed += other;
    long_pulses += cut;
  });
  out.as_given = changed.load() == 0;
  out.shortened_count = long_pulses.load();
  return out;
}

bool are_return_numbers(const AnyColumn& target_index, const AnyColumn& target_count, const AnyColumn& number,
                        const AnyColumn& count, OpContext& ctx) {
  const std::size_t n = target_index.size();
  require(target_count.size() == n && number.size() == n && count.size() == n, "one value per row is needed");
  const Bytes index = bytes_of(target_index, ctx), of = bytes_of(target_count, ctx);
  const Bytes numbers = bytes_of(number, ctx), counts = bytes_of(count, ctx);
  if (!index.whole || !of.whole || !numbers.whole || !counts.whole) return false;
  const auto agrees = [&](int first) {
    return !any_row(
        n,
        [&](std::size_t i) {
          const LasReturn wanted = las_return(index.values[i], of.values[i], first);
          return numbers.values[i] != shortened(wanted.number) || counts.values[i] != shortened(wanted.count);
        },
        ctx);
  };
  return agrees(0) || (!begins_at_zero(target_index, target_count, ctx) && agrees(1));
}

}  // namespace pc
