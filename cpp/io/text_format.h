#pragma once
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

/// Writes numbers as text, independent of the locale, to a buffer that the caller has made large enough.
namespace pc::io::text_format {

/// Most bytes that any of these functions writes.
inline constexpr std::size_t kMaxNumberBytes = 330;  // -1.797e308 with six decimals has 317

inline constexpr std::array<char, 200> kDigitPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

inline char* two_digits(std::uint32_t value, char* p) {
  std::memcpy(p, &kDigitPairs[2 * value], 2);
  return p + 2;
}

inline char* unsigned_integer(std::uint64_t value, char* p) {
  char digits[20];
  char* first = digits + sizeof digits;
  while (value >= 100) {
    first -= 2;
    two_digits(static_cast<std::uint32_t>(value % 100), first);
    value /= 100;
  }
  if (value >= 10) {
    first -= 2;
    two_digits(static_cast<std::uint32_t>(value), first);
  } else {
    *--first = static_cast<char>('0' + value);
  }
  const auto count = static_cast<std::size_t>(digits + sizeof digits - first);
  std::memcpy(p, first, count);
  return p + count;
}

inline char* integer(std::int64_t value, char* p) {
  if (value >= 0) return unsigned_integer(static_cast<std::uint64_t>(value), p);
  *p++ = '-';
  return unsigned_integer(0 - static_cast<std::uint64_t>(value), p);
}

inline char* word(const char* text, char* p) {
  const std::size_t count = std::strlen(text);
  std::memcpy(p, text, count);
  return p + count;
}

/// Rounds exactly as printf("%.6f") (nearest to the true value, ties to even), except that zero has no sign. Writes
/// nan, inf and -inf as these words.
inline char* fixed6(double value, char* p) {
  constexpr double kLimit = 0x1p51;  // below this, adding a constant gives the nearest integer exactly
  constexpr double kRound = 0x1.8p52;
  const double scaled = value * 1e6;
  if (!(std::fabs(scaled) < kLimit)) {
    if (value != value) return word("nan", p);
    if (std::isinf(value)) return word(value < 0 ? "-inf" : "inf", p);
    return std::to_chars(p, p + kMaxNumberBytes, value, std::chars_format::fixed, 6).ptr;
  }
  double rounded = (scaled + kRound) - kRound;
  const double rest = scaled - rounded;
  if (rest == 0.5 || rest == -0.5) {  // the product's own rounding error decides; elsewhere it cannot
    const double error = std::fma(value, 1e6, -scaled);
    if (rest > 0 && error > 0) rounded += 1;
    if (rest < 0 && error < 0) rounded -= 1;
  }
  const auto micro = static_cast<std::int64_t>(rounded);
  std::uint64_t magnitude = static_cast<std::uint64_t>(micro);
  if (micro < 0) {
    *p++ = '-';
    magnitude = 0 - magnitude;
  }
  p = unsigned_integer(magnitude / 1000000, p);
  const auto fraction = static_cast<std::uint32_t>(magnitude % 1000000);
  *p++ = '.';
  p = two_digits(fraction / 10000, p);
  p = two_digits(fraction / 100 % 100, p);
  return two_digits(fraction % 100, p);
}

/// A 16-bit colour channel as 0..255: its high byte. Reproduces every 8-bit colour, whether it was widened by 256 (LAS,
/// text, PLY) or by 257 (unit range); rounding value / 65535 * 255 would turn 255 * 256 into 254.
inline char* color255(std::uint16_t value, char* p) { return unsigned_integer(value >> 8U, p); }

/// value / 65535 with 4 or 6 decimals, rounded; 65535 is odd and the powers of ten are even, so there are no ties.
inline char* unit16(std::uint16_t value, int decimals, char* p) {
  const std::uint64_t one = decimals == 6 ? 1000000 : 10000;
  const std::uint64_t scaled = (value * one + 32767) / 65535;
  *p++ = static_cast<char>('0' + scaled / one);
  *p++ = '.';
  const auto fraction = static_cast<std::uint32_t>(scaled % one);
  if (decimals == 6) p = two_digits(fraction / 10000, p);
  p = two_digits(fraction / 100 % 100, p);
  return two_digits(fraction % 100, p);
}

/// True if a reader that multiplies the text of unit16 by 65535 and rounds gets another value. Six decimals change none.
inline bool changes_unit16(std::uint16_t value, int decimals) {
  const std::uint64_t one = decimals == 6 ? 1000000 : 10000;
  const std::uint64_t scaled = (value * one + 32767) / 65535;
  return (scaled * 65535 + one / 2) / one != value;
}

}  // namespace pc::io::text_format
