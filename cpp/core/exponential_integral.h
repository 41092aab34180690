#pragma once
#include <array>

namespace pc {

/// Exponential integral E1(x) = integral of exp(-t) / t from x to infinity, x > 0.
///
/// Order    The same bits every time; relative error below 2e-15 up to x = 1, where E1 is a difference, and above.
/// Cost     About 20 ns.
/// Source   Power series below 1 (DLMF 6.6.2) and continued fraction from 16 on (DLMF 6.9.1, contracted). Between, in
///          octaves, the Chebyshev interpolant of the same fraction carried further.
class ExponentialIntegral {
 public:
  ExponentialIntegral();
  /// exp_minus_x  exp(-x), which callers have at hand
  double e1(double x, double exp_minus_x) const;

 private:
  static constexpr int kOctaves = 4, kTerms = 20;
  /// Coefficients of x exp(x) E1(x) by powers of the place in [2^i, 2^(i+1)], from -1 to 1.
  std::array<std::array<double, kTerms>, kOctaves> octaves_;
};

/// The one instance.
const ExponentialIntegral& exponential_integral();

}  // namespace pc
