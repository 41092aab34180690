#include "io/decimal.h"

#include <cmath>
#include <limits>
#include <string>

#include "core/parse_double.h"

namespace pc::io {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool same_word(std::string_view token, std::string_view word) {
  if (token.size() != word.size()) return false;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (lower(token[i]) != word[i]) return false;
  }
  return true;
}

std::optional<double> parse_word(std::string_view token, bool negative) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (same_word(token, "nan")) return kNan;
  if (same_word(token, "inf") || same_word(token, "infinity")) return negative ? -kInf : kInf;
  if (same_word(token, "na") || same_word(token, "n/a") || same_word(token, "null")) return kNan;
  return std::nullopt;
}

/// True if the whole token is digits [point digits] [(e|d) [sign] digits].
bool is_decimal(std::string_view token, char point) {
  std::size_t i = 0;
  const auto take_digits = [&] {
    const std::size_t first = i;
    while (i < token.size() && is_digit(token[i])) ++i;
    return i - first;
  };
  std::size_t digits = take_digits();
  if (i < token.size() && token[i] == point) {
    ++i;
    digits += take_digits();
  }
  if (digits == 0) return false;
  if (i < token.size() && (lower(token[i]) == 'e' || lower(token[i]) == 'd')) {
    ++i;
    if (i < token.size() && (token[i] == '-' || token[i] == '+')) ++i;
    if (take_digits() == 0) return false;
  }
  return i == token.size();
}

/// The absolute value of a token for which is_decimal is true.
double nearest_double(std::string_view token, char point) {
  std::string plain(token);
  for (char& c : plain) {
    if (c == point) c = '.';
    if (lower(c) == 'd') c = 'e';
  }
  return parse_double(plain.data(), plain.data() + plain.size()).value;
}

}  // namespace

std::optional<double> parse_decimal(std::string_view token, char point) {
  const bool negative = !token.empty() && token[0] == '-';
  if (negative || (!token.empty() && token[0] == '+')) token.remove_prefix(1);
  if (token.empty()) return std::nullopt;
  if (!is_decimal(token, point)) return parse_word(token, negative);
  const double value = nearest_double(token, point);
  return negative ? -value : value;
}

bool needs_double(const Decimal& number) {
  constexpr std::uint64_t kAlwaysExact =
      8'388'608;  // below 2^23 half a float32 step is less than half a digit
  std::uint64_t mantissa = number.mantissa;
  int exponent = number.exponent;
  if (mantissa <= kAlwaysExact) return false;
  while (mantissa % 10 == 0) {
    mantissa /= 10;
    ++exponent;
  }
  if (mantissa <= kAlwaysExact) return false;
  if (mantissa >= 10'000'000) return true;
  const double last_digit =
      exponent < 0 ? 1.0 / kExactPowersOfTen[static_cast<std::size_t>(-exponent)] : std::pow(10.0, exponent);
  const double stored = static_cast<double>(static_cast<float>(number.value));
  return !(std::fabs(stored - number.value) < 0.4999999 * last_digit);
}

}  // namespace pc::io
