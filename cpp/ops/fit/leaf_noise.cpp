#include "ops/fit/leaf_noise.h"

#include <algorithm>
#include <cmath>

namespace pc {

namespace {

/// Smallest variance: the constants of the model are not known any better.
constexpr double kLeast = 2e-5 * 2e-5;

/// One step of the weighted fit of the squared residuals.
LeafNoise refined(Span<const double> residual, Span<const double> reflectance, double freedom,
                  const LeafNoise& before) {
  constexpr double kMostTimes = 16;
  double s00 = 0, s01 = 0, s11 = 0, b0 = 0, b1 = 0;
  for (std::size_t i = 0; i < residual.size; ++i) {
    const double x = reflectance[i] * reflectance[i], expected = before.variance(reflectance[i]);
    const double y = std::min(residual[i] * residual[i] * freedom, kMostTimes * expected);
    const double weight = 1 / (expected * expected);
    s00 += weight;
    s01 += weight * x;
    s11 += weight * x * x;
    b0 += weight * y;
    b1 += weight * x * y;
  }
  const double determinant = s00 * s11 - s01 * s01;
  double constant = b0 / s00, relative = 0;
  if (determinant > 1e-6 * s00 * s11) {  // else the reflectance hardly varies, and one part is enough
    constant = (b0 * s11 - b1 * s01) / determinant;
    relative = (b1 * s00 - b0 * s01) / determinant;
    if (relative < 0) {
      constant = b0 / s00;
      relative = 0;
    } else if (constant < kLeast) {
      constant = kLeast;
      relative = std::max(0.0, (b1 - kLeast * s01) / s11);
    }
  }
  return {std::max(constant, kLeast), relative, 1};
}

double correlated_count(const std::vector<double>& unit) {
  const std::size_t n = unit.size();
  double all = 0, sum = 1;
  for (const double u : unit) all += u * u;
  if (!(all > 0)) return 1;
  const double least = 2 / std::sqrt(static_cast<double>(n));
  for (std::size_t lag = 1; lag <= n / 4; ++lag) {
    double product = 0;
    for (std::size_t i = lag; i < n; ++i) product += unit[i] * unit[i - lag];
    if (product / all < least) break;
    sum += 2 * product / all;
  }
  return sum;
}

}  // namespace

LeafNoise leaf_noise(Span<const double> residual, Span<const double> reflectance,
                     std::size_t parameter_count) {
  constexpr int kSteps = 6;
  const auto n = static_cast<double>(residual.size);
  const double freedom = n / std::max(1.0, n - static_cast<double>(parameter_count));
  double mean = 0;
  for (const double r : residual) mean += r * r;
  LeafNoise noise{std::max(kLeast, mean / n * freedom), 0, 1};
  for (int step = 0; step < kSteps; ++step) noise = refined(residual, reflectance, freedom, noise);
  std::vector<double> unit(residual.size);
  for (std::size_t i = 0; i < unit.size(); ++i)
    unit[i] = residual[i] / std::sqrt(noise.variance(reflectance[i]));
  noise.correlated_count = correlated_count(unit);
  return noise;
}

}  // namespace pc
