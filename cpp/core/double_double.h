#pragma once
#include <cmath>

namespace pc {

/// Sum of two doubles and its rounding error: high + low is exact.
struct DoubleDouble {
  double high = 0, low = 0;

  DoubleDouble() = default;
  DoubleDouble(double value) : high(value) {}  // NOLINT: a double is one
  DoubleDouble(double h, double l) : high(h), low(l) {}

  int sign() const { return high != 0 ? (high > 0) - (high < 0) : (low > 0) - (low < 0); }
  double value() const { return high + low; }
};

/// a + b exactly. Source: Knuth, The Art of Computer Programming 2, section 4.2.2, theorem B.
inline DoubleDouble two_sum(double a, double b) {
  const double sum = a + b, of_b = sum - a, of_a = sum - of_b;
  return {sum, (a - of_a) + (b - of_b)};
}

/// a + b exactly if |a| >= |b|. Source: Dekker 1971, Numer. Math. 18, 224-242.
inline DoubleDouble quick_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

inline DoubleDouble two_difference(double a, double b) { return two_sum(a, -b); }

/// a b exactly, unless it over- or underflows (factors up to 1e290, error term above 1e-308). Source: Dekker 1971, with
/// Veltkamp's split into halves of 26 bits. Not std::fma, which is a slow call on processors without it.
inline DoubleDouble two_product(double a, double b) {
  constexpr double kSplit = 134217729.0;  // 2^27 + 1
  const double product = a * b;
  const double ca = kSplit * a, cb = kSplit * b;
  const double a_high = ca - (ca - a), b_high = cb - (cb - b);
  const double a_low = a - a_high, b_low = b - b_high;
  return {product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)};
}

/// Relative error of a sum or product of two numbers below 2^-100. Exact wherever the result is an integer multiple of
/// some unit, below 2^104 of it, and the factors have no low part in common.
/// Source: Hida, Li & Bailey 2001, "Algorithms for quad-double precision floating point arithmetic", section 3.
inline DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
  DoubleDouble s = two_sum(a.high, b.high);
  const DoubleDouble t = two_sum(a.low, b.low);
  s = quick_two_sum(s.high, s.low + t.high);
  return quick_two_sum(s.high, s.low + t.low);
}
inline DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) {
  return a + DoubleDouble(-b.high, -b.low);
}
inline DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble p = two_product(a.high, b.high);
  return quick_two_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

}  // namespace pc
