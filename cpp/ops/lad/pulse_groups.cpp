#include "ops/lad/pulse_groups.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/float_bits.h"
#include "core/parallel.h"
#include "core/radix_sort.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr std::uint64_t kTimeless = std::numeric_limits<std::uint64_t>::max();
constexpr double kMostRepeated = 0.01;
constexpr std::size_t kMostPlaces = 256;  // of scanners that stood still

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

bool same_place(const std::vector<std::uint16_t>& places, const BulkVector<std::uint32_t>& order,
                std::size_t begin, std::size_t end) {
  if (places.empty()) return true;
  const auto place = [&](std::size_t at) { return places[order.empty() ? at : order[at]]; };
  for (std::size_t at = begin + 1; at < end; ++at)
    if (place(at) != place(begin)) return false;
  return true;
}

/// Orders the rows of [begin, end) by their places and adds where each part begins; false if a part is no pulse.
template <class T>
bool split_by_place(Span<const T> target_index, const std::vector<std::uint16_t>& places,
                    BulkVector<std::uint32_t>& order, std::size_t begin, std::size_t end,
                    std::vector<std::size_t>& starts) {
  starts.clear();
  if (places.empty() || end - begin > kMostPlaces * kMostReturns) return false;
  if (order.empty()) {
    order.resize(target_index.size);
    std::iota(order.begin(), order.end(), 0U);
  }
  const auto first = order.begin();
  std::stable_sort(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end),
                   [&](std::uint32_t a, std::uint32_t b) { return places[a] < places[b]; });
  for (std::size_t from = begin; from < end;) {
    std::size_t to = from + 1;
    while (to < end && places[order[to]] == places[order[from]]) ++to;
    if (to - from > 1 && !is_pulse(target_index, order, from, to)) return false;
    starts.push_back(from);
    from = to;
  }
  return true;
}

}  // namespace

std::vector<std::uint16_t> still_places(Span<const Vec3d> origins, std::size_t rows, OpContext& ctx) {
  if (origins.size != rows) return {};
  const auto key_of = [&](std::size_t i) {  // -0 is 0
    return std::array{ordered_bits(origins[i].x + 0.0), ordered_bits(origins[i].y + 0.0),
                      ordered_bits(origins[i].z + 0.0)};
  };
  std::map<std::array<std::uint64_t, 3>, std::uint16_t> numbers;
  std::vector<std::uint16_t> places(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (i > 0 && key_of(i) == key_of(i - 1)) {
      places[i] = places[i - 1];
      continue;
    }
    places[i] = numbers.try_emplace(key_of(i), static_cast<std::uint16_t>(numbers.size())).first->second;
    if (numbers.size() > kMostPlaces) return {};
  }
  if (numbers.size() < 2) return {};
  return places;
}

GroupedPulses pulse_groups(Span<const double> timestamps, const AnyColumn& target_index,
                           Span<const Vec3d> origins, OpContext& ctx) {
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
  const std::vector<std::uint16_t> places = still_places(origins, rows, ctx);
  std::vector<std::size_t> parts;
  visit_scalar(target_index, [&](auto values) {
    for (std::size_t begin = 0, next_poll = 0; begin < rows;) {
      if (begin >= next_poll) ctx.checkpoint(), next_poll = begin + kGrain;
      const std::uint64_t time = key(begin);
      std::size_t end = begin + 1;
      // A run of one time longer than a pulse is cut, so that a step of this loop is bounded.
      while (time != kTimeless && end < rows && end - begin <= kGrain && key(end) == time) ++end;
      const bool one = end - begin == 1 || is_pulse(values, order, begin, end);
      const bool split = (!one || !same_place(places, order, begin, end)) &&
                         split_by_place(values, places, order, begin, end, parts);
      if (split) {
        for (const std::size_t place : parts) starts[pulses++] = static_cast<std::uint32_t>(place);
      } else {
        if (!one) repeated += end - begin;
        for (std::size_t place = begin; place < (one ? begin + 1 : end); ++place)
          starts[pulses++] = static_cast<std::uint32_t>(place);
      }
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
