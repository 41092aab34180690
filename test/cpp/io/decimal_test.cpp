#include "io/decimal.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/random.h"

namespace {

using pc::io::Decimal;
using pc::io::parse_decimal;

std::uint64_t bits(double v) { return std::bit_cast<std::uint64_t>(v); }

/// As the row parser does: the quick way when it answers for the whole token, else the thorough one.
double read(const std::string& token) {
  const std::string padded = token + "\n" + std::string(pc::io::kDecimalPadding, '9');
  Decimal number;
  const char* end = pc::io::scan_decimal(padded.data(), '.', number);
  if (end == padded.data() + token.size()) return number.value;
  EXPECT_EQ(end, nullptr) << token;
  return parse_decimal(token, '.').value_or(std::nan(""));
}

std::string digits(std::uint64_t seed, std::uint64_t counter, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += static_cast<char>('0' + pc::random_u64(seed + 77, counter * 64 + i) % 10);
  return text;
}

/// A random decimal: up to 24 digits with a point anywhere, half of them with an exponent up to
/// `max_exponent`.
std::string random_token(std::uint64_t i, int max_digits, int max_exponent) {
  const auto pick = [&](std::uint64_t seed, int n) { return static_cast<int>(pc::random_u64(seed, i) % n); };
  const int count = 1 + pick(1, max_digits), point = pick(2, count + 2);
  std::string text = digits(3, i, count);
  if (point <= count) text.insert(static_cast<std::size_t>(point), ".");
  if (pick(4, 2) == 0) text = "-" + text;
  if (max_exponent > 0 && pick(5, 2) == 0)
    text += "e" + std::to_string(pick(6, 2 * max_exponent) - max_exponent);
  return text;
}

TEST(Decimal, IsBitExactWithStrtodOnRandomTokens) {
  struct Family {
    int max_digits, max_exponent;
  };
  for (const Family family :
       {Family{9, 0}, Family{19, 0}, Family{24, 0}, Family{17, 30}, Family{24, 330}, Family{3, 340}}) {
    for (std::uint64_t i = 0; i < 400'000; ++i) {
      const std::string token = random_token(i, family.max_digits, family.max_exponent);
      ASSERT_EQ(bits(read(token)), bits(std::strtod(token.c_str(), nullptr))) << token;
    }
  }
}

TEST(Decimal, IsBitExactWithStrtodOnEveryKindOfDouble) {
  char text[64];
  for (std::uint64_t i = 0; i < 400'000; ++i) {
    std::uint64_t raw = pc::random_u64(11, i);
    if (i % 4 == 0) raw &= 0x800fffffffffffffULL;  // subnormal
    const double value = std::bit_cast<double>(raw);
    if (!std::isfinite(value)) continue;
    std::snprintf(text, sizeof text, i % 2 == 0 ? "%.17g" : "%.25e", value);
    ASSERT_EQ(bits(read(text)), bits(std::strtod(text, nullptr))) << text;
  }
}

TEST(Decimal, IsBitExactAtTheEdges) {
  const std::string nines(400, '9');
  for (const std::string& token : {std::string("0"),
                                   std::string("-0"),
                                   std::string("-0.0e5"),
                                   std::string("9007199254740992"),
                                   std::string("9007199254740993"),
                                   std::string("18446744073709551616"),
                                   std::string("4.9e-324"),
                                   std::string("2.4703282292062327e-324"),
                                   std::string("2.4703282292062328e-324"),
                                   std::string("1e-400"),
                                   std::string("-1e-400"),
                                   std::string("1.7976931348623157e308"),
                                   std::string("1.7976931348623159e308"),
                                   std::string("-1e400"),
                                   std::string("1e22"),
                                   std::string("1e23"),
                                   std::string("123456789012345678e-22"),
                                   std::string("2.2250738585072011e-308"),
                                   std::string("0.") + std::string(350, '0') + "1",
                                   nines,
                                   "0." + nines,
                                   nines + "e-400",
                                   "1" + std::string(400, '0') + "e-400",
                                   std::string("0e999999999999999999"),
                                   std::string("1e-999999999999999999999"),
                                   std::string("1e+999999999999999999999"),
                                   std::string("00000000000000000000001"),
                                   std::string("5."),
                                   std::string(".5"),
                                   std::string("+.5"),
                                   std::string("1.e3")}) {
    EXPECT_EQ(bits(read(token)), bits(std::strtod(token.c_str(), nullptr))) << token;
  }
}

TEST(Decimal, ReadsFortranExponentsAndDecimalCommas) {
  EXPECT_EQ(parse_decimal("1.5D+02", '.'), 150.0);
  EXPECT_EQ(parse_decimal("1.5d-1", '.'), 0.15);
  EXPECT_EQ(parse_decimal("-2,25", ','), -2.25);
  EXPECT_EQ(parse_decimal("2.25", ','), std::nullopt);
  Decimal number;
  const char text[] = "-2,25d1\n        ";
  EXPECT_EQ(pc::io::scan_decimal(text, ',', number), text + 7);
  EXPECT_EQ(number.value, -22.5);
}

TEST(Decimal, KnowsTheWordsForNoValue) {
  for (const char* word : {"nan", "NaN", "-nan", "NA", "n/a", "null", "NULL"}) {
    const auto value = parse_decimal(word, '.');
    ASSERT_TRUE(value.has_value()) << word;
    EXPECT_TRUE(std::isnan(*value)) << word;
  }
  EXPECT_EQ(parse_decimal("inf", '.'), INFINITY);
  EXPECT_EQ(parse_decimal("-Infinity", '.'), -INFINITY);
  EXPECT_EQ(parse_decimal("-9999", '.'), -9999.0);
}

TEST(Decimal, RefusesWhatIsNoNumber) {
  for (const char* token : {"", "-", "+", ".", "-.", "e5", "1e", "1e+", "1e5x", "0x10", "1 2", "1.2.3", "--1",
                            "1,5", "1_0", "abc", "1\r2"}) {
    EXPECT_EQ(parse_decimal(token, '.'), std::nullopt) << token;
  }
}

TEST(Decimal, NeedsDoubleExactlyWhenFloatPrintsOtherDigits) {
  char text[32], again[32];
  for (std::uint64_t i = 0; i < 300'000; ++i) {
    const int exponent = static_cast<int>(pc::random_u64(21, i) % 40) - 20;
    std::uint64_t mantissa = 1'000'000 + pc::random_u64(22, i) % 9'000'000;
    if (mantissa % 10 == 0) ++mantissa;
    std::snprintf(text, sizeof text, "%llue%d", static_cast<unsigned long long>(mantissa), exponent);
    Decimal number;
    ASSERT_NE(pc::io::scan_decimal((std::string(text) + "\n        ").data(), '.', number), nullptr) << text;
    const double value = std::strtod(text, nullptr);
    std::snprintf(text, sizeof text, "%.6e", value);
    std::snprintf(again, sizeof again, "%.6e", static_cast<double>(static_cast<float>(value)));
    EXPECT_EQ(pc::io::needs_double(number), std::string(text) != again) << text;
  }
  Decimal eight{12345678.0, 12345678, 0}, padded{0.5, 500000000, -9};
  EXPECT_TRUE(pc::io::needs_double(eight));
  EXPECT_FALSE(pc::io::needs_double(padded));
}

}  // namespace
