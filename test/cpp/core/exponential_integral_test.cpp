#include "core/exponential_integral.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pc {
namespace {

double e1(double x) { return exponential_integral().e1(x, std::exp(-x)); }

/// Digits of Abramowitz & Stegun 1964, table 5.1, carried further with 30-digit arithmetic.
TEST(ExponentialIntegral, Table) {
  const double table[][2] = {{1e-20, 45.474486194979382},    {0.5, 0.55977359477616081175},
                             {1, 0.21938393439552027368},    {2, 0.048900510708061119567},
                             {5, 0.0011482955912753257973},  {10, 4.156968929685324277e-6},
                             {20, 9.8355252906498816904e-11}};
  for (const auto& [x, value] : table) EXPECT_NEAR(e1(x) / value, 1, 3e-15) << x;
}

/// The series in long double below 4, where it loses few digits; above, the fraction of DLMF 6.9.1 term by term.
long double by_definition(long double x) {
  if (x > 4) {
    long double below = x;
    for (int i = 2000; i > 0; --i) below = x + i / (1 + i / below);
    return std::exp(-x) / below;
  }
  long double sum = -0.57721566490153286060651209L - std::log(x), term = 1;
  for (int n = 1; n < 60; ++n) {
    term *= -x / n;
    sum -= term / n;
  }
  return sum;
}

TEST(ExponentialIntegral, EverywhereToFourteenDigits) {
  for (double x = 1e-8; x < 700; x *= 1.0037)
    ASSERT_NEAR(e1(x) / static_cast<double>(by_definition(x)), 1, 3e-15) << x;
  for (const double edge : {1.0, 2.0, 4.0, 8.0, 16.0})
    EXPECT_NEAR(e1(std::nextafter(edge, 0)) / e1(edge), 1, 6e-15) << edge;
}

}  // namespace
}  // namespace pc
