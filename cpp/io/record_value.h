#pragma once
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>

#include "core/parse_double.h"

namespace pc::io::record_value {

inline bool is_blank(char c) { return static_cast<unsigned char>(c) <= ' '; }

inline const char* skip_blanks(const char* p, const char* end) {
  while (p != end && is_blank(*p)) ++p;
  return p;
}

inline const char* token_end(const char* p, const char* end) {
  while (p != end && !is_blank(*p)) ++p;
  return p;
}

/// Parses a whole token as a decimal number, nan or inf (any case, optional sign; also "1.#QNAN" and "1.#INF", written
/// by old Microsoft runtimes). Correctly rounded, independent of the locale. False for any other token.
inline bool parse_double(const char* first, const char* last, double& out) {
  if (first != last && *first == '+' && last - first > 1 && first[1] != '-') ++first;
  const ParsedDouble read = pc::parse_double(first, last);
  const char* const stop = read.end;
  if (stop == first) return false;
  out = read.value;
  if (stop == last) return true;
  if (stop != last && *stop == '#' && std::fabs(out) == 1.0) {
    const bool infinite = last - stop >= 4 && std::memcmp(stop, "#INF", 4) == 0;
    out = infinite ? std::copysign(std::numeric_limits<double>::infinity(), out)
                   : std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  return false;
}

/// Parses a whole token as a value of the integer type T; "3.0" and "3e0" are 3. False if it does not fit.
template <class T>
bool parse_integer(const char* first, const char* last, T& out) {
  if (first != last && *first == '+' && last - first > 1 && first[1] != '-') ++first;
  const auto [stop, error] = std::from_chars(first, last, out);
  if (error == std::errc{} && stop == last) return true;
  if (error == std::errc::result_out_of_range) return false;
  double value;
  if (!parse_double(first, last, value) || std::trunc(value) != value) return false;
  // 2^digits is exact in double; the maximum may not be.
  const double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (!(value < limit) || value < (std::numeric_limits<T>::is_signed ? -limit : 0.0)) return false;
  out = static_cast<T>(value);
  return true;
}

/// Parses a whole token as packed colour 0xAARRGGBB: an integer, or the float with these bits (nan: black).
inline bool parse_packed_color(const char* first, const char* last, bool from_float, std::uint32_t& bits) {
  if (from_float) {
    double value;
    if (!parse_double(first, last, value)) return false;
    bits = value == value ? std::bit_cast<std::uint32_t>(static_cast<float>(value)) : 0;
    return true;
  }
  std::int64_t value;
  if (!parse_integer(first, last, value) || value < -0x80000000LL || value > 0xffffffffLL) return false;
  bits = static_cast<std::uint32_t>(value);
  return true;
}

}  // namespace pc::io::record_value
