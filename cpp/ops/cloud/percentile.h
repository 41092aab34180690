#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/span.h"

namespace pc {

/// Position of a percentile among `count` sorted values: between the values of ranks `low` and `high`, `weight` of the
/// way. Linear interpolation at rank fraction (count - 1): Hyndman & Fan 1996, type 7; numpy's 'linear'.
struct PercentileRank {
  std::uint64_t low;
  std::uint64_t high;
  double weight;
};

/// count > 0; fraction in [0, 1].
inline PercentileRank percentile_rank(std::uint64_t count, double fraction) {
  const double position = fraction * static_cast<double>(count - 1);
  auto low = static_cast<std::uint64_t>(position);
  if (low >= count - 1) return {count - 1, count - 1, 0.0};
  return {low, low + 1, position - static_cast<double>(low)};
}

/// Interpolates between two order statistics, low <= high. Exact at both ends, never outside them, correct even if
/// high - low overflows.
inline double percentile_between(double low, double high, double weight) {
  if (low == high || weight == 0.0) return low;
  const double between = low * (1.0 - weight) + high * weight;
  return between < low ? low : (between > high ? high : between);
}

/// Percentile of at least one value, sorted in ascending order.
inline double sorted_percentile(Span<const double> sorted, double fraction) {
  const PercentileRank rank = percentile_rank(sorted.size, fraction);
  return percentile_between(sorted[rank.low], sorted[rank.high], rank.weight);
}

}  // namespace pc
