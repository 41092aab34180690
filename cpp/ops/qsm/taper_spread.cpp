#include "ops/qsm/taper_spread.h"

namespace pc {

namespace {

constexpr double kChiSquaredMedian = 0.4549;
constexpr double kMostSpread = 4;
constexpr int kHalvings = 40;

}  // namespace

double taper_spread(const std::vector<LawDeviation>& all, double least) {
  double low = least, high = kMostSpread;
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = 0.5 * (low + high);
    double within = 0, total = 0;
    for (const LawDeviation& d : all) {
      total += d.weight;
      if (d.square <= kChiSquaredMedian * (middle * middle + d.variance)) within += d.weight;
    }
    (2 * within >= total ? high : low) = middle;
  }
  return high;
}

}  // namespace pc
