#include "ops/lad/pulse_groups.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/float_bits.h"
#include "core/parallel.h"
#include "core/radix_sort.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr std::uint64_t kTimeless = std::numeric_limits<std::uint64_t>::max();
constexpr double kMostRepeated = 0.01;

std::uint64_t time_key(double time) {
  return std::isfinite(time) ? ordered_bits(time == 0.0 ? 0.0 : time) : kTimeless;
}

/// The order by time; empty if the rows have it already.
BulkVector<std::uint32_t> order_by_time(Span<const double> timestamps, OpContext& ctx) {
  std::atomic<bool> ascending{true};
  parallel_for(ctx, timestamps.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = std::max<std::size_t>(begin, 1); i < end; ++i) {
      if (time_key(timestamps[i - 1]) > time_key(timestamps[i])) {
        ascending = false;
        return;
      }
    }
  });
  if (ascending) return {};
  BulkVector<std::uint64_t> keys(timestamps.size);
  parallel_for(ctx, timestamps.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) keys[i] = time_key(timestamps[i]);
  });
  return radix_sort_order(keys.view(), 64, ctx);
}

/// Whether the rows of [begin, end) can be the returns of one pulse.
template <class T>
bool is_pulse(Span<const T> target_index, const BulkVector<std::uint32_t>& order, std::size_t begin,
              std::size_t end) {
  if (end - begin > kMostReturns) return false;
  std::array<double, kMostReturns> seen;
  for (std::size_t place = begin; place < end; ++place)
    seen[place - begin] = static_cast<double>(target_index[order.empty() ? place : order[place]]);
  std::sort(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(end - begin));
  for (std::size_t i = 1; i < end - begin; ++i) {
    if (!(seen[i - 1] < seen[i])) return false;
  }
  return true;
}

}  // namespace

GroupedPulses pulse_groups(Span<const double> timestamps, const AnyColumn& target_index, OpContext& ctx) {
  const std::size_t rows = timestamps.size;
  require(target_index.size() == rows, "timestamps and target_index must have one length");
  if (rows >= std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorCode::kUnsupported, "a scan of 4,294,967,295 rows or more");
  }
  BulkVector<std::uint32_t> order = order_by_time(timestamps, ctx);
  const auto key = [&](std::size_t place) {
    return time_key(timestamps[order.empty() ? place : order[place]]);
  };
  BulkVector<std::uint32_t> starts(rows + 1);
  std::size_t pulses = 0, repeated = 0;
  visit_scalar(target_index, [&](auto values) {
    for (std::size_t begin = 0, next_poll = 0; begin < rows;) {
      if (begin >= next_poll) ctx.checkpoint(), next_poll = begin + kGrain;
      const std::uint64_t time = key(begin);
      std::size_t end = begin + 1;
      // A run of one time longer than a pulse is cut, so that a step of this loop is bounded.
      while (time != kTimeless && end < rows && end - begin <= kGrain && key(end) == time) ++end;
      const bool one = end - begin == 1 || is_pulse(values, order, begin, end);
      if (!one) repeated += end - begin;
      for (std::size_t place = begin; place < (one ? begin + 1 : end); ++place)
        starts[pulses++] = static_cast<std::uint32_t>(place);
      begin = end;
    }
  });
  if (static_cast<double>(repeated) > kMostRepeated * static_cast<double>(rows))
    return {PulseGroups(rows), true};
  starts[pulses] = static_cast<std::uint32_t>(rows);
  starts.resize(pulses + 1);
  return {PulseGroups(std::move(order), std::move(starts), pulses), false};
}

}  // namespace pc
