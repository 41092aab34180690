#include "ops/cloud/return_numbering.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/round.h"
#include "ops/cloud/miss_detection.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 17;
constexpr double kNone = std::numeric_limits<double>::infinity();

/// What rows tell of their numbers.
struct Seen {
  std::uint64_t zeros = 0, empty_zeros = 0, ones = 0;  ///< empty: of no returns
  double lowest = kNone;                               ///< of the numbers above 0
  std::uint64_t lowest_count = 0;
  bool counted = false;  ///< a row has returns
  bool reaches = false;  ///< a row is the last return of its pulse when counted from 1

  void add_index(double index) {
    if (!(index >= 0) || index == kNone || index == kSkyTargetIndex) return;
    zeros += index == 0 ? 1 : 0;
    ones += index == 1 ? 1 : 0;
    if (index > 0) add_lowest(index, 1);
  }
  void add_count(double index, double count) {
    counted = counted || count > 0;
    empty_zeros += index == 0 && !(count > 0) ? 1 : 0;
    reaches = reaches || (index > 0 && index == count && index != kSkyTargetIndex);
  }
  void add_lowest(double index, std::uint64_t count) {
    if (index > lowest) return;
    lowest_count = index < lowest ? count : lowest_count + count;
    lowest = index;
  }
  void join(const Seen& other) {
    zeros += other.zeros;
    empty_zeros += other.empty_zeros;
    ones += other.ones;
    if (other.lowest_count > 0) add_lowest(other.lowest, other.lowest_count);
    counted = counted || other.counted;
    reaches = reaches || other.reaches;
  }
};

double rounded(double value) { return round_half_even(value); }

/// What all rows tell; add(seen, row) tells it of one.
template <class Add>
Seen seen_in(std::size_t rows, Span<const std::uint8_t> skip, const Add& add, OpContext& ctx) {
  std::vector<Seen> parts(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, rows, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    Seen seen;
    for (std::size_t i = begin; i < end; ++i)
      if (skip.empty() || skip[i] == 0) add(seen, i);
    parts[static_cast<std::size_t>(worker)].join(seen);
  });
  Seen all;
  for (const Seen& part : parts) all.join(part);
  return all;
}

Seen seen_numbers(const AnyColumn& index, const AnyColumn* of, Span<const std::uint8_t> skip,
                  OpContext& ctx) {
  Seen all;
  visit_scalar(index, [&](auto values) {
    if (of == nullptr) {
      all = seen_in(
          values.size, skip,
          [&](Seen& seen, std::size_t i) { seen.add_index(rounded(static_cast<double>(values[i]))); }, ctx);
      return;
    }
    visit_scalar(*of, [&](auto counts) {
      all = seen_in(
          values.size, skip,
          [&](Seen& seen, std::size_t i) {
            const double number = rounded(static_cast<double>(values[i]));
            seen.add_index(number);
            seen.add_count(number, rounded(static_cast<double>(counts[i])));
          },
          ctx);
    });
  });
  return all;
}

/// Whether rows with 0 are first returns.
bool begins_at_zero(const Seen& seen, bool has_counts) {
  if (seen.lowest == kNone) return seen.zeros > (has_counts ? seen.empty_zeros : 0);
  const std::uint64_t known = seen.counted ? seen.zeros - seen.empty_zeros : seen.zeros;
  if (known == 0) return false;
  return known >= seen.ones || (seen.counted && !seen.reaches);
}

}  // namespace

ReturnNumbering return_numbering(const AnyColumn& target_index, const AnyColumn* target_count,
                                 Span<const std::uint8_t> skip, OpContext& ctx) {
  const std::size_t n = target_index.size();
  require((target_count == nullptr || target_count->size() == n) && (skip.empty() || skip.size == n),
          "one value per row is needed");
  const Seen seen = seen_numbers(target_index, target_count, skip, ctx);
  if (begins_at_zero(seen, target_count != nullptr)) return {0.0, seen.zeros, 0};
  if (seen.lowest == kNone) return {std::nullopt, 0, 0};
  return {seen.lowest, seen.lowest_count, seen.zeros};
}

}  // namespace pc
