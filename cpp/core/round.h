#pragma once
#include <cmath>

namespace pc {

/// std::rint in the default rounding mode (half to even), without the function call that it is on baseline x86-64;
/// gives 0 for -0. Adding 1.5 * 2^52 leaves no bits for a fraction.
inline double round_half_even(double value) {
  constexpr double kShift = 0x1.8p52;
  if (std::abs(value) < 0x1p51) return (value + kShift) - kShift;
  return std::rint(value);
}

}  // namespace pc
