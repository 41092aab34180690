#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace pc::io {

/// A plain decimal number found in text.
struct Decimal {
  double value;            ///< correctly rounded, with the same bits as strtod
  std::uint64_t mantissa;  ///< its digits as a whole number; |value| = mantissa * 10^exponent exactly
  int exponent;            ///< in [-22, 22]
};

/// 10^0 .. 10^22: every power of ten that a double represents exactly.
inline constexpr std::array<double, 23> kExactPowersOfTen = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                             1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                             1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Number of bytes that must be readable after the end of a text passed to scan_decimal.
inline constexpr std::size_t kDecimalPadding = 8;

namespace decimal_kernel {

inline constexpr std::array<std::uint64_t, 9> kPowers = {1,      10,      100,      1000,     10000,
                                                         100000, 1000000, 10000000, 100000000};

/// Reads 0 to 8 digits at `p` in one step: appends them to `mantissa` and returns how many there were. Finds and
/// combines eight digits at a time in one register (SWAR; Lemire, "Number parsing at a gigabyte per second", Software:
/// Practice and Experience 51(8), 2021, section 3).
inline int take_digits(const char* p, std::uint64_t& mantissa) {
  static_assert(std::endian::native == std::endian::little, "the first character must be the lowest byte");
  std::uint64_t t;
  std::memcpy(&t, p, 8);
  t ^= 0x3030303030303030ULL;  // digits become 0..9, all other bytes something larger
  const std::uint64_t other = ((t + 0x7676767676767676ULL) | t) & 0x8080808080808080ULL;
  const int count = other == 0 ? 8 : std::countr_zero(other) >> 3;
  if (count == 0) return 0;
  t <<= 8 * (8 - count);  // moves the digits up and fills in zeros below
  t = ((t & 0x0f0f0f0f0f0f0f0fULL) * 2561) >> 8;
  t = ((t & 0x00ff00ff00ff00ffULL) * 6553601) >> 16;
  t = ((t & 0x0000ffff0000ffffULL) * 42949672960001ULL) >> 32;
  mantissa = mantissa * kPowers[static_cast<std::size_t>(count)] + t;
  return count;
}

/// Reads all digits at `p`; the mantissa is meaningful only up to 19 digits.
inline const char* take_all_digits(const char* p, std::uint64_t& mantissa) {
  for (;;) {
    const int count = take_digits(p, mantissa);
    p += count;
    if (count < 8) return p;
  }
}

}  // namespace decimal_kernel

/// Reads the decimal number that starts at `p`: [+-] digits [point digits] [(e|E|d|D) [+-] digits].
///
/// p        text with kDecimalPadding readable bytes after its end, ended by a byte that occurs in no number ('\n').
/// Returns  The first byte after the number. nullptr if there is no number at `p`, or it is not a product or quotient
///          of two exact doubles: mantissa <= 2^53, |exponent| <= 22 (Clinger, "How to read floating point numbers
///          accurately", PLDI 1990, section 3). parse_decimal reads all other numbers.
inline const char* scan_decimal(const char* p, char point, Decimal& out) {
  const bool negative = *p == '-';
  p += negative || *p == '+';
  const char* const first = p;
  std::uint64_t mantissa = 0;
  p = decimal_kernel::take_all_digits(p, mantissa);
  auto digits = p - first;
  int exponent = 0;
  if (*p == point) {
    const char* const fraction = ++p;
    p = decimal_kernel::take_all_digits(p, mantissa);
    digits += p - fraction;
    if (digits > 19) return nullptr;
    exponent = -static_cast<int>(p - fraction);
  }
  if (digits == 0 || digits > 19) return nullptr;
  const char letter = static_cast<char>(*p | 0x20);
  if (letter == 'e' || letter == 'd') {
    ++p;
    const bool below = *p == '-';
    p += below || *p == '+';
    std::uint64_t written = 0;
    const int count = decimal_kernel::take_digits(p, written);
    if (count == 0 || count > 4) return nullptr;
    p += count;
    exponent += below ? -static_cast<int>(written) : static_cast<int>(written);
  }
  if (mantissa > (std::uint64_t{1} << 53) || exponent < -22 || exponent > 22) return nullptr;
  const auto whole = static_cast<double>(mantissa);
  const double value = exponent < 0 ? whole / kExactPowersOfTen[static_cast<std::size_t>(-exponent)]
                                    : whole * kExactPowersOfTen[static_cast<std::size_t>(exponent)];
  out = {negative ? -value : value, mantissa, exponent};
  return p;
}

/// Reads a whole token: any decimal number in the syntax of scan_decimal, of any length and range, or one of the words
/// nan, inf, infinity (with sign) and na, n/a, null (as NaN), in any case. Hexadecimal numbers are not accepted.
///
/// Returns  the double nearest to the text (ties to even; +-infinity or +-0 out of range, as with strtod), or nothing
///          if the token is not a number.
std::optional<double> parse_decimal(std::string_view token, char point);

/// True if float32 cannot reproduce the digits of a number: more than seven significant digits, or seven that the
/// nearest float32 would print differently (FLT_DIG is 6: not every seven-digit decimal has a float32 of its own).
bool needs_double(const Decimal& number);

}  // namespace pc::io
