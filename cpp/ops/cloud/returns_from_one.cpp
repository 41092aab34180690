#include "ops/cloud/returns_from_one.h"

#include <atomic>
#include <cmath>

#include "core/dtype_fit.h"
#include "core/error.h"
#include "core/parallel.h"
#include "ops/cloud/miss_detection.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 17;

/// Rows of pulses without any return; empty if no row has any, or without counts.
Column<std::uint8_t> without_returns(const AnyColumn* target_count, OpContext& ctx) {
  if (target_count == nullptr) return {};
  Column<std::uint8_t> out(target_count->size());
  std::atomic<bool> counted{false};
  visit_scalar(*target_count, [&](auto counts) {
    parallel_for(ctx, counts.size, kGrain, [&](std::size_t begin, std::size_t end) {
      bool some = false;
      for (std::size_t i = begin; i < end; ++i) {
        const bool has = static_cast<double>(counts[i]) > 0;
        out[i] = has ? 0 : 1;
        some = some || has;
      }
      if (some) counted.store(true, std::memory_order_relaxed);
    });
  });
  return counted.load() ? std::move(out) : Column<std::uint8_t>();
}

/// The number of the next return; as it is where there is none.
template <class T>
T next_return(T index, bool is_unknown) {
  const auto value = static_cast<double>(index);
  T next{};
  const bool is_number = std::isfinite(value) && value >= 0 && value != kSkyTargetIndex;
  return is_number && !is_unknown && exact_cast(value + 1, next) ? next : index;
}

}  // namespace

AnyColumn returns_from_one(const AnyColumn& target_index, const AnyColumn* target_count, OpContext& ctx) {
  const std::size_t n = target_index.size();
  require(target_count == nullptr || target_count->size() == n, "one value per row is needed");
  const Column<std::uint8_t> unknown = without_returns(target_count, ctx);
  AnyColumn out(target_index.dtype(), n);
  visit_scalar(target_index, [&](auto values) {
    using T = std::remove_cvref_t<decltype(values[0])>;
    const auto to = out.template as_mutable<T>();
    parallel_for(ctx, n, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        to[i] = next_return(values[i], unknown.size() > 0 && unknown[i] != 0 && values[i] == T{0});
    });
  });
  return out;
}

}  // namespace pc
