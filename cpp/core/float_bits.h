#pragma once
#include <cstdint>
#include <cstring>

#include "core/host_device.h"

/// Bits of floating-point numbers, on host and device (std::bit_cast is not a device function with every compiler).
namespace pc {

PC_HD inline std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

PC_HD inline std::uint64_t bits_of(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

PC_HD inline float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

PC_HD inline double double_of(std::uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Integers with the same order as the numbers: negative numbers have all bits flipped, others the sign bit. -0 comes
/// before +0; NaN lies beyond the infinities.
PC_HD inline std::uint32_t ordered_bits(float value) {
  constexpr std::uint32_t kSign = std::uint32_t{1} << 31;
  const std::uint32_t bits = bits_of(value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

PC_HD inline std::uint64_t ordered_bits(double value) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const std::uint64_t bits = bits_of(value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

/// Inverse of ordered_bits.
PC_HD inline float float_of_ordered(std::uint32_t key) {
  constexpr std::uint32_t kSign = std::uint32_t{1} << 31;
  return float_of((key & kSign) != 0 ? key & ~kSign : ~key);
}

PC_HD inline double double_of_ordered(std::uint64_t key) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  return double_of((key & kSign) != 0 ? key & ~kSign : ~key);
}

/// Greater than ordered_bits of every number that is not NaN.
constexpr std::uint32_t kAboveAllFloats = ~std::uint32_t{0};

}  // namespace pc
