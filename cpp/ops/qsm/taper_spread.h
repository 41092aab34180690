#pragma once
#include <vector>

namespace pc {

/// Of a measured ln(radius) from its law.
struct LawDeviation {
  double square;    ///< of the deviation
  double variance;  ///< of the measurement
  double weight;
};

/// Standard deviation of ln(radius / law) without the errors of measurement, at least `least`: the weighted median of
/// square / (spread^2 + variance) is that of chi squared with one degree of freedom. All that determined the law count, so that
/// a few wrong radii among many thin branches do not make it a loose one.
///
/// Cost       O(n). At most 4.
double taper_spread(const std::vector<LawDeviation>& all, double least);

}  // namespace pc
