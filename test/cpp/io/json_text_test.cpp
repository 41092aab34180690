#include "io/json_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/random.h"

namespace pc::io {
namespace {

template <class T>
AnyColumn column_of(const std::vector<T>& values) {
  Column<T> column(values.size());
  std::copy(values.begin(), values.end(), column.view().begin());
  return AnyColumn(std::move(column));
}

std::string text_of(const AnyColumn& column, const JsonPart& part) {
  JobControl control;
  OpContext ctx(control);
  const auto bytes = json_text(column, part, ctx);
  return {reinterpret_cast<const char*>(bytes.view().data), bytes.size()};
}

TEST(JsonText, RowsOfEveryForm) {
  const auto floats = column_of<float>({0.1F, -2, 1e-7F, 3.5F, 0, 16777216});
  EXPECT_EQ(text_of(floats, {JsonForm::kNumbers, 1, 3}), "-2,1e-07,3.5");
  EXPECT_EQ(text_of(floats, {JsonForm::kPairs, 0, 4}), "[0.1,-2],[1e-07,3.5]");
  EXPECT_EQ(text_of(floats, {JsonForm::kTriples, 3, 3}), "[3.5,0,16777216]");
  EXPECT_EQ(text_of(floats, {JsonForm::kCounts, 3, 3}), "[3,4,5]");
  EXPECT_EQ(text_of(floats, {JsonForm::kNumbers, 6, 0}), "");
  EXPECT_EQ(text_of(column_of<std::uint8_t>({0, 7, 255}), {JsonForm::kNumbers, 0, 3}), "0,7,255");
  EXPECT_EQ(text_of(column_of<std::uint32_t>({0xffffffffU}), {JsonForm::kNumbers, 0, 1}), "4294967295");
}

TEST(JsonText, AnOriginIsAddedInDoublePrecision) {
  const auto floats = column_of<float>({0.1F, -2, 1e-9F, 0.25F, 0, std::numeric_limits<float>::infinity()});
  EXPECT_EQ(text_of(floats, {JsonForm::kTriples, 0, 6, {5e6, 0.5, -0.125}}),
            "[5000000.1,-1.5,-0.125],[5000000.25,0.5,null]");
  EXPECT_EQ(text_of(column_of<std::uint8_t>({'[', '1', ']'}), {JsonForm::kJson, 0, 3}), "[1]");
}

TEST(JsonText, NumbersJsonDoesNotHaveBecomeNull) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(text_of(column_of<float>({nan, inf, -inf}), {JsonForm::kTriples, 0, 3}), "[null,null,null]");
}

TEST(JsonText, EveryFloatReadsBackAsItself) {
  std::vector<float> values{std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::min(), -std::numeric_limits<float>::denorm_min()};
  for (std::uint32_t i = 0; i < 20000; ++i) {
    const std::uint32_t bits = i * 2654435761U;
    float value = 0;
    std::memcpy(&value, &bits, 4);
    if (std::isfinite(value)) values.push_back(value);
  }
  const std::string text = text_of(column_of(values), {JsonForm::kNumbers, 0, values.size()});
  const char* at = text.c_str();
  for (const float value : values) {
    char* end = nullptr;
    EXPECT_EQ(std::strtof(at, &end), value);
    at = end + (*end == ',');
  }
  EXPECT_EQ(*at, '\0');
}

TEST(JsonText, TextIsEscapedAndUtf8IsCopied) {
  const std::string raw = "<a b=\"c\">\\\n\t\x01 \xc3\xa9</a>";
  const auto column = column_of<std::uint8_t>({raw.begin(), raw.end()});
  EXPECT_EQ(text_of(column, {JsonForm::kText, 0, raw.size()}), R"(<a b=\"c\">\\\n\u0009\u0001 )"
                                                               "\xc3\xa9</a>");
  EXPECT_EQ(text_of(column, {JsonForm::kText, 3, 5}), R"(b=\"c\")");
}

TEST(JsonText, WrongPartsAreRefused) {
  const auto column = column_of<float>({1, 2, 3, 4});
  EXPECT_THROW(text_of(column, {JsonForm::kNumbers, 3, 2}), Error);
  EXPECT_THROW(text_of(column, {JsonForm::kTriples, 0, 4}), Error);
  EXPECT_THROW(text_of(column, {JsonForm::kPairs, 1, 2}), Error);
  EXPECT_THROW(text_of(column, {JsonForm::kNumbers, std::uint64_t(-1), 2}), Error);
  EXPECT_THROW(text_of(column, {JsonForm::kText, 0, 4}), Error);
  EXPECT_THROW(text_of(column_of<double>({1}), {JsonForm::kNumbers, 0, 1}), Error);
  EXPECT_THROW(text_of(column_of<float>(std::vector<float>(kMaxJsonPart + 1)),
                       {JsonForm::kNumbers, 0, kMaxJsonPart + 1}),
               Error);
}

}  // namespace
}  // namespace pc::io
