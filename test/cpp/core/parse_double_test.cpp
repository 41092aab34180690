#include "core/parse_double.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/float_bits.h"
#include "core/random.h"

namespace pc {
namespace {

ParsedDouble parse(const std::string& text) { return parse_double(text.data(), text.data() + text.size()); }

TEST(ParseDouble, HasTheBitsOfStrtod) {
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const double value = double_of(random_u64(3, i));
    if (!std::isfinite(value)) continue;
    for (const char* format : {"%.17g", "%.3e", "%.25g"}) {
      char text[64];
      std::snprintf(text, sizeof text, format, value);
      ASSERT_EQ(bits_of(parse(text).value), bits_of(std::strtod(text, nullptr))) << text;
    }
  }
}

TEST(ParseDouble, BeyondTheRangeTheLimitIsGiven) {
  const std::string long_one(400, '9'), small = "0." + std::string(400, '0') + "1";
  EXPECT_EQ(parse("1e309").value, HUGE_VAL);
  EXPECT_EQ(parse("-1e999999999999").value, -HUGE_VAL);
  EXPECT_EQ(parse(long_one).value, HUGE_VAL);
  EXPECT_EQ(bits_of(parse("-1e-400").value), bits_of(-0.0));
  EXPECT_EQ(bits_of(parse(small).value), bits_of(0.0));
  EXPECT_EQ(parse("4.9e-324").value, 4.9e-324);
  EXPECT_EQ(parse("2.4703282292062327e-324").value, 0);         // just below half the smallest
  EXPECT_EQ(parse("2.4703282292062328e-324").value, 4.9e-324);  // just above
}

TEST(ParseDouble, EndsBehindTheNumber) {
  const std::string text = "1.5e3,7";
  const ParsedDouble found = parse(text);
  EXPECT_EQ(found.value, 1500);
  EXPECT_EQ(found.end, text.data() + 5);
  for (const std::string& none : std::vector<std::string>{"", "+1", " 1", "e5", ".", "-", "x"})
    EXPECT_EQ(parse(none).end, none.data()) << none;
  EXPECT_TRUE(std::isnan(parse("nan").value));
  EXPECT_EQ(parse("-inf").value, -HUGE_VAL);
  EXPECT_EQ(parse("0x10").value, 0);
}

}  // namespace
}  // namespace pc
