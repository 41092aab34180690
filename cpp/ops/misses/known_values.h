#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <vector>

/// Values of the rows or columns of a raster, NaN where they are not known.
namespace pc::known_values {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// To [-pi, pi].
inline double wrapped(double angle) { return std::remainder(angle, 2 * std::numbers::pi); }

/// Median of the values, which are reordered; the lower one of two. NaN without values.
inline double median(std::vector<double>& values) {
  if (values.empty()) return kNone;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// Median of the steps between neighbours of which both are known, or of those closest together. O(n).
inline double median_step(const std::vector<double>& values, bool angular) {
  std::vector<double> steps;
  std::size_t least_gap = values.size(), last = values.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != values[i]) continue;
    const std::size_t gap = last < values.size() ? i - last : values.size();
    if (gap < least_gap) {
      least_gap = gap;
      steps.clear();
    }
    if (gap == least_gap && last < values.size()) {
      const double step = values[i] - values[last];
      steps.push_back((angular ? wrapped(step) : step) / static_cast<double>(gap));
    }
    last = i;
  }
  return median(steps);
}

/// Puts unknown values on the line between their known neighbours, and beyond the last ones by steps.
inline void fill_unknown(std::vector<double>& values, double step) {
  std::size_t last = values.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != values[i]) continue;
    if (last == values.size()) {
      for (std::size_t k = 0; k < i; ++k) values[k] = values[i] - step * static_cast<double>(i - k);
    } else {
      const double slope = (values[i] - values[last]) / static_cast<double>(i - last);
      for (std::size_t k = last + 1; k < i; ++k)
        values[k] = values[last] + slope * static_cast<double>(k - last);
    }
    last = i;
  }
  for (std::size_t k = last + 1; k < values.size(); ++k)
    values[k] = values[last] + step * static_cast<double>(k - last);
}

}  // namespace pc::known_values
