#include "ops/fit/student_t.h"

#include <cmath>
#include <initializer_list>

namespace pc {

namespace {

/// The continued fraction of DLMF 8.17.22 for I_x(a, b).
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300, kPrecise = 1e-16;
  constexpr int kTerms = 10'000;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (d == 0 ? kTiny : d);
  double value = d;
  for (int m = 1; m < kTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (const double term : {even, odd}) {
      d = 1 + term * d;
      c = 1 + term / c;
      d = 1 / (d == 0 ? kTiny : d);
      c = c == 0 ? kTiny : c;
      change = d * c;
      value *= change;
    }
    if (std::abs(change - 1) < kPrecise) break;
  }
  return value;
}

/// The regularized incomplete beta function I_x(a, b), with y = 1 - x given for its precision.
double incomplete_beta(double x, double y, double a, double b) {
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log(y));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(y, b, a) / b;
}

/// Probability that t exceeds t >= 0.
double upper_tail(double t, double degrees) {
  const double sum = degrees + t * t;
  return incomplete_beta(degrees / sum, t * t / sum, degrees / 2, 0.5) / 2;
}

}  // namespace

double student_t_probability(double t, double degrees) {
  return t < 0 ? upper_tail(-t, degrees) : 1 - upper_tail(t, degrees);
}

double student_t_quantile(double probability, double degrees) {
  if (probability < 0.5) return -student_t_quantile(1 - probability, degrees);
  const double tail = 1 - probability;
  double low = 0, high = 1;
  while (upper_tail(high, degrees) > tail && high < 1e300) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
    const double middle = low + (high - low) / 2;
    (upper_tail(middle, degrees) > tail ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

}  // namespace pc
