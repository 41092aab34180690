#include "ops/cloud/first_returns.h"

#include <atomic>

#include "core/error.h"
#include "core/parallel.h"
#include "core/round.h"
#include "ops/cloud/return_numbering.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 17;

/// Whether accept(value) holds for a row that the mask keeps.
template <class Accept>
bool any_row(const AnyColumn& column, Span<const std::uint8_t> skip, const Accept& accept, OpContext& ctx) {
  std::atomic<bool> found{false};
  visit_scalar(column, [&](auto values) {
    parallel_for(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end && !found.load(std::memory_order_relaxed); ++i)
        if ((skip.empty() || skip[i] == 0) && accept(static_cast<double>(values[i]))) found.store(true);
    });
  });
  return found.load();
}

}  // namespace

FirstReturns first_returns(const AnyColumn& target_index, const AnyColumn& target_count,
                           Span<const std::uint8_t> skip, OpContext& ctx) {
  const std::size_t n = target_index.size();
  require(target_count.size() == n && (skip.empty() || skip.size == n), "one value per row is needed");
  FirstReturns out{};
  out.is_multi_return = any_row(
      target_count, skip, [](double count) { return count > 1; }, ctx);
  if (!out.is_multi_return) return out;
  const ReturnNumbering numbering = return_numbering(target_index, &target_count, skip, ctx);
  const double first = numbering.first.value_or(0);
  out.skip = Column<std::uint8_t>(n);
  std::atomic<std::uint64_t> dropped{0};
  visit_scalar(target_index, [&](auto values) {
    parallel_for(ctx, n, kGrain, [&](std::size_t begin, std::size_t end) {
      std::uint64_t count = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const double index = round_half_even(static_cast<double>(values[i]));
        const bool given = !skip.empty() && skip[i] != 0, later = index != first && index != 0;
        out.skip[i] = given || later ? 1 : 0;
        count += !given && later ? 1 : 0;
      }
      dropped += count;
    });
  });
  out.dropped_count = dropped.load();
  return out;
}

}  // namespace pc
