#include "core/exponential_integral.h"

#include <cmath>
#include <numbers>

namespace pc {

namespace {

/// x exp(x) E1(x) by 1 / (x + 1 / (1 + 1 / (x + 2 / (1 + 2 / (x + ...))))), in which nothing cancels.
/// 400 / x + 20 levels leave only rounding (exponential_integral_test.cpp).
double scaled_by_slow_fraction(double x) {
  double below = x;
  for (int i = static_cast<int>(400 / x) + 20; i > 0; --i) below = x + i / (1 + i / below);
  return x / below;
}

/// The same by `depth` levels of 1 / (x + 1 - 1 / (x + 3 - 4 / (x + 5 - ...))), whose rounding errors add up.
double scaled_by_fraction(double x, int depth) {
  double below = x + 2.0 * depth + 1;
  for (int i = depth; i > 0; --i) below = x + 2.0 * i - 1 - 1.0 * i * i / below;
  return x / below;
}

constexpr int kSeriesTerms = 20;  // the last is 2e-20 at x = 1
constexpr auto kSeries = [] {     // -(-1)^n / (n n!), n from 1
  std::array<double, kSeriesTerms> terms{};
  double factorial = 1, sign = 1;
  for (int n = 1; n <= kSeriesTerms; ++n, sign = -sign) {
    factorial *= n;
    terms[static_cast<std::size_t>(n - 1)] = sign / (n * factorial);
  }
  return terms;
}();

/// Four sums side by side: one alone waits for each of its products.
template <std::size_t N>
double polynomial(const std::array<double, N>& terms, double x) {
  static_assert(N % 4 == 0);
  const double square = x * x, fourth = square * square;
  double a = terms[N - 4], b = terms[N - 3], c = terms[N - 2], d = terms[N - 1];
  for (std::size_t i = N - 4; i > 0; i -= 4) {
    a = a * fourth + terms[i - 4];
    b = b * fourth + terms[i - 3];
    c = c * fourth + terms[i - 2];
    d = d * fourth + terms[i - 1];
  }
  return (a + b * x) + square * (c + d * x);
}

}  // namespace

ExponentialIntegral::ExponentialIntegral() {
  for (std::size_t octave = 0; octave < kOctaves; ++octave) {
    const double middle = 1.5 * std::ldexp(1, static_cast<int>(octave)), half = middle / 3;
    std::array<double, kTerms> at_node{}, chebyshev{};
    const auto angle = [](int j) { return std::numbers::pi * (j + 0.5) / kTerms; };
    for (int j = 0; j < kTerms; ++j)
      at_node[static_cast<std::size_t>(j)] = scaled_by_slow_fraction(middle + half * std::cos(angle(j)));
    for (int n = 0; n < kTerms; ++n) {
      double sum = 0;
      for (int j = 0; j < kTerms; ++j) sum += at_node[static_cast<std::size_t>(j)] * std::cos(n * angle(j));
      chebyshev[static_cast<std::size_t>(n)] = (n == 0 ? 1 : 2) * sum / kTerms;
    }
    auto& powers = octaves_[octave];
    powers.fill(0);
    std::array<double, kTerms> before{}, polynomial_n{};  // T(n-1) and T(n) by powers
    polynomial_n[0] = 1;
    for (std::size_t n = 0; n < kTerms; ++n) {
      for (std::size_t i = 0; i <= n; ++i) powers[i] += chebyshev[n] * polynomial_n[i];
      std::array<double, kTerms> next{};
      for (std::size_t i = 0; i + 1 < kTerms; ++i) next[i + 1] = (n == 0 ? 1 : 2) * polynomial_n[i];
      for (std::size_t i = 0; i < kTerms; ++i) next[i] -= before[i];
      before = polynomial_n;
      polynomial_n = next;
    }
  }
}

double ExponentialIntegral::e1(double x, double exp_minus_x) const {
  constexpr double kFractionFrom = 16;
  constexpr int kDepth = 14;
  if (x < 1) return x * polynomial(kSeries, x) - std::numbers::egamma - std::log(x);
  if (x >= kFractionFrom) return exp_minus_x * scaled_by_fraction(x, kDepth) / x;
  const std::size_t octave = x < 4 ? (x < 2 ? 0 : 1) : (x < 8 ? 2 : 3);
  const double half = 0.5 * static_cast<double>(1 << octave);
  return exp_minus_x * polynomial(octaves_[octave], x / half - 3) / x;
}

const ExponentialIntegral& exponential_integral() {
  static const ExponentialIntegral instance;
  return instance;
}

}  // namespace pc
