#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

namespace pc {

/// The kStages smallest values pass through a row of exchanges: no branch depends on the data.
template <std::size_t kStages>
double nth_smallest_of_few(const double* values, std::size_t count, std::size_t n) {
  std::array<double, kStages> least;
  least.fill(std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < count; ++i) {
    double value = values[i];
    for (std::size_t stage = 0; stage < kStages; ++stage) {
      const double kept = least[stage];
      least[stage] = value < kept ? value : kept;
      value = kept < value ? value : kept;  // not the same condition: GCC would branch on it
    }
  }
  return least[n];
}

/// The value that has index n after sorting, n < count. May reorder the values. Fast for n < 9 and few values.
inline double nth_smallest(double* values, std::size_t count, std::size_t n) {
  if (n < 5) return nth_smallest_of_few<5>(values, count, n);
  if (n < 9) return nth_smallest_of_few<9>(values, count, n);
  std::nth_element(values, values + n, values + count);
  return values[n];
}

/// The median, or the larger of the two in the middle; NaN of no values. Reorders them.
inline double upper_median(std::vector<double>& values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  return nth_smallest(values.data(), values.size(), values.size() / 2);
}

}  // namespace pc
