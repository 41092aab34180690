#include "ops/trees/binomial_tail.h"

#include <cmath>

namespace pc {

namespace {

constexpr double kLeastTerm = 1e-12;

}  // namespace

double log_choose(double n, double k) {
  return (std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)) / std::log(10.0);
}

double log_binomial_tail(double n, double k, double p) {
  if (!(p < 1) || k <= n * p) return 0;
  if (!(p > 0)) return -HUGE_VAL;
  double term = 1, sum = 0;
  for (double j = k; j <= n && term > kLeastTerm * sum; ++j) {
    sum += term;
    term *= (n - j) / (j + 1) * p / (1 - p);
  }
  return log_choose(n, k) + k * std::log10(p) + (n - k) * std::log10(1 - p) + std::log10(sum);
}

}  // namespace pc
