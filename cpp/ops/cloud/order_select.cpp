#include "ops/cloud/order_select.h"

#include <limits>

namespace pc::order_select {

LaneRange bracket_range(const std::vector<double>& sorted_sample, double fraction, const LaneRange& range) {
  const auto k = static_cast<double>(sorted_sample.size());
  if (sorted_sample.size() < kMinSample) return range;
  const double center = fraction * (k - 1.0), reach = 4.0 * std::sqrt(k * fraction * (1.0 - fraction)) + 4.0;
  LaneRange bracket = range;
  if (center - reach >= 0.0) bracket.min = sorted_sample[static_cast<std::size_t>(center - reach)];
  if (center + reach <= k - 1.0) bracket.max = sorted_sample[static_cast<std::size_t>(center + reach)];
  return bracket;
}

namespace {

/// Stores the value of a rank if the bracket contains it; returns whether it does.
bool store(Bracket& b, const Target& target) {
  const std::uint64_t inside_begin = b.below + b.at_low, inside_end = inside_begin + b.inside_count;
  if (target.rank < b.below || target.rank >= inside_end + b.at_high) return false;
  if (target.rank < inside_begin) {
    *target.out = b.low;
  } else if (target.rank >= inside_end) {
    *target.out = b.high;
  } else {
    if (b.inside_count > b.inside.size()) return false;
    double* const first = b.inside.begin();
    double* const at = first + (target.rank - inside_begin);
    std::nth_element(first, at, first + b.inside_count.load());
    *target.out = *at;
  }
  return true;
}

/// A new bracket for a rank that `b` missed. The values in it have been counted, so it has room for all of them.
std::unique_ptr<Bracket> retry(const Bracket& b, const Target& target, std::uint64_t count,
                               const LaneRange& range) {
  const std::uint64_t upto_high = b.below + b.at_low + b.inside_count + b.at_high;
  LaneRange where{b.low, b.high};
  std::uint64_t capacity = b.inside_count;
  if (target.rank < b.below) {
    where = {range.min, b.low};
    capacity = b.below;
  } else if (target.rank >= upto_high) {
    where = {b.high, range.max};
    capacity = count - upto_high;
  }
  return std::make_unique<Bracket>(b.lane, where, capacity, std::vector<Target>{target});
}

}  // namespace

Gap widest_gap(const Brackets& brackets, std::uint32_t lane, const std::vector<double>& sorted_sample) {
  std::vector<LaneRange> taken;
  for (const auto& bracket : brackets)
    if (bracket->lane == lane) taken.push_back({bracket->low, bracket->high});
  std::sort(taken.begin(), taken.end(), [](const LaneRange& a, const LaneRange& b) { return a.min < b.min; });
  constexpr double kEnd = std::numeric_limits<double>::infinity();
  taken.push_back({kEnd, kEnd});
  Gap widest;
  std::ptrdiff_t most = 0;
  double from = -kEnd;
  for (const LaneRange& next : taken) {
    const auto first = std::upper_bound(sorted_sample.begin(), sorted_sample.end(), from);
    const auto last = std::lower_bound(sorted_sample.begin(), sorted_sample.end(), next.min);
    if (from < next.min && last - first > most) {
      most = last - first;
      widest = {from, next.min};
    }
    from = std::max(from, next.max);
  }
  return widest;
}

Brackets resolve(Brackets&& brackets, std::uint64_t count, const std::vector<LaneRange>& ranges) {
  Brackets missed;
  for (auto& bracket : brackets) {
    for (const Target& target : bracket->targets) {
      if (!store(*bracket, target)) missed.push_back(retry(*bracket, target, count, ranges[bracket->lane]));
    }
    bracket.reset();
  }
  return missed;
}

}  // namespace pc::order_select
