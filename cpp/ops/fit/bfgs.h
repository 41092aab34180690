#pragma once
#include <array>
#include <cmath>
#include <cstddef>

namespace pc {

/// Local minimum of a smooth function of N variables.
///
/// x         start; improved in place
/// function  function(x, gradient) returns the value and writes the gradient; HUGE_VAL = not allowed, gradient unused
/// Cost      At most kSteps steps, each of one to a few evaluations.
/// Source    BFGS with the inverse Hessian (Nocedal & Wright 2006, algorithm 6.1); the line search bisects for the weak
///           Wolfe conditions (Lewis & Overton 2013, Mathematical Programming 141, algorithm 2.6).
template <std::size_t N, class Function>
void minimize_bfgs(std::array<double, N>& x, Function&& function) {
  using Vector = std::array<double, N>;
  constexpr int kSteps = 60, kTrials = 30;
  constexpr double kSmallGradient = 1e-7, kDecrease = 1e-4, kCurvature = 0.9;
  const auto dot = [](const Vector& a, const Vector& b) {
    double sum = 0;
    for (std::size_t i = 0; i < N; ++i) sum += a[i] * b[i];
    return sum;
  };
  std::array<Vector, N> inverse{};
  for (std::size_t i = 0; i < N; ++i) inverse[i][i] = 1;
  Vector gradient{};
  double value = function(x, gradient);
  for (int step = 0; step < kSteps && dot(gradient, gradient) > kSmallGradient * kSmallGradient; ++step) {
    Vector direction{};
    for (std::size_t i = 0; i < N; ++i) direction[i] = -dot(inverse[i], gradient);
    const double slope = dot(direction, gradient);
    if (!(slope < 0)) return;
    double low = 0, high = HUGE_VAL, length = step == 0 ? 0.1 / std::sqrt(dot(direction, direction)) : 1;
    Vector next{}, next_gradient{};
    double next_value = HUGE_VAL;
    bool found = false;
    for (int trial = 0; trial < kTrials && !found; ++trial) {
      for (std::size_t i = 0; i < N; ++i) next[i] = x[i] + length * direction[i];
      next_value = function(next, next_gradient);
      if (!(next_value <= value + kDecrease * length * slope)) {
        high = length;
      } else if (dot(next_gradient, direction) < kCurvature * slope) {
        low = length;
      } else {
        found = true;
        break;
      }
      length = high < HUGE_VAL ? (low + high) / 2 : 2 * low;
    }
    if (!(next_value < value)) return;
    Vector s{}, y{}, hy{};
    for (std::size_t i = 0; i < N; ++i) {
      s[i] = next[i] - x[i];
      y[i] = next_gradient[i] - gradient[i];
    }
    x = next;
    gradient = next_gradient;
    value = next_value;
    const double sy = dot(s, y);
    if (!(sy > 1e-14 * std::sqrt(dot(s, s) * dot(y, y)))) continue;
    for (std::size_t i = 0; i < N; ++i) hy[i] = dot(inverse[i], y);
    const double both = (1 + dot(y, hy) / sy) / sy;
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j < N; ++j)
        inverse[i][j] += both * s[i] * s[j] - (hy[i] * s[j] + s[i] * hy[j]) / sy;
  }
}

}  // namespace pc
