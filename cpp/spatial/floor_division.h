#pragma once
#include <cstdint>

namespace pc {

/// Largest whole number <= a / b; b > 0.
inline std::int64_t floor_division(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return q * b > a ? q - 1 : q;
}

}  // namespace pc
