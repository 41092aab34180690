#include "io/json_lists.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/vec3.h"
#include "io/decimal.h"

namespace pc::io {
namespace {

using Kind = JsonShape::Kind;
const JsonShape kShape{
    Kind::kObject,
    {{"points", {Kind::kPoints, {}}},
     {"numbers", {Kind::kNumbers, {}}},
     {"heights", {Kind::kHeights, {}}},
     {"flags", {Kind::kFlags, {}}},
     {"inner", {Kind::kObject, {{"numbers", {Kind::kNumbers, {}}}}}},
     {"text", {Kind::kText, {}}},
     {"items", {Kind::kArray, {{"", {Kind::kObject, {{"points", {Kind::kPoints, {}}}, {"name", {}}}}}}}},
     {"value", {}}}};

JsonDocument read(const std::string& text, JsonLimits limits = {1000, 10}, JobControl* control = nullptr) {
  JobControl own;
  OpContext ctx(control == nullptr ? own : *control);
  const std::string padded = text + std::string(kDecimalPadding, '\0');
  return read_json_lists({padded.data(), text.size()}, kShape, "T", limits, ctx);
}

JsonList first_list(const std::string& text) {
  JsonDocument document = read(text);
  return std::move(document.lists.at(0));
}

std::string problem(const std::string& text, JsonLimits limits = {1000, 10}) {
  try {
    read(text, limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << text;
    return error.what();
  }
  return "";
}

std::vector<double> doubles(const JsonList& list) {
  const auto view = list.column.as<double>();
  return {view.begin(), view.end()};
}

TEST(JsonLists, TextsBecomeBytes) {
  const auto found = read(R"({"text":"<a b=\"1\">\n\u00e9\ud83d\ude00\ud800</a>","value":"<a>"})");
  EXPECT_EQ(found.rest, R"({"text":"T0","value":"<a>"})");
  ASSERT_EQ(found.lists.size(), 1U);
  const auto bytes = found.lists[0].column.as<std::uint8_t>();
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "<a b=\"1\">\n\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd</a>");
  EXPECT_EQ(found.lists[0].length, bytes.size);
  EXPECT_TRUE(found.lists[0].valid);
  EXPECT_EQ(first_list(R"({"text":""})").length, 0U);
  EXPECT_EQ(read(R"({"text":null})").rest, R"({"text":null})");
  EXPECT_EQ(read(R"({"text":[1,"a"]})").rest, R"({"text":[1,"a"]})");
}

TEST(JsonLists, TextsThatDoNotEndAreRefused) {
  EXPECT_NE(problem(R"({"text":"abc)"), "");
  EXPECT_NE(problem("{\"text\":\"abc\\"), "");
  EXPECT_NE(problem("{\"text\":\"a\nb\"}"), "");
  EXPECT_NE(problem(R"({"text":"a\q"})"), "");
}

TEST(JsonLists, ListsBecomeColumnsAndTheRestStaysText) {
  const auto found = read(
      R"( {"value":[1,{"a":null}],"points":[[1,2,3],[ -4 ,5e-1,6.25]],"numbers":[],"flags":[true,false]} )");
  EXPECT_EQ(found.rest, R"( {"value":[1,{"a":null}],"points":"T0","numbers":"T1","flags":"T2"} )");
  ASSERT_EQ(found.lists.size(), 3U);
  const auto points = found.lists[0].column.as<Vec3d>();
  ASSERT_EQ(points.size, 2U);
  EXPECT_EQ(points[0], (Vec3d{1, 2, 3}));
  EXPECT_EQ(points[1], (Vec3d{-4, 0.5, 6.25}));
  EXPECT_TRUE(found.lists[1].valid);
  EXPECT_EQ(found.lists[1].column.size(), 0U);
  EXPECT_EQ(found.lists[2].column.as<std::uint8_t>()[0], 1);
  EXPECT_EQ(found.lists[2].column.as<std::uint8_t>()[1], 0);
}

TEST(JsonLists, HeightsAreOneListOrRows) {
  const auto flat = first_list(R"({"heights":[1,null,-2]})");
  EXPECT_EQ(flat.length, 3U);
  EXPECT_TRUE(std::isnan(doubles(flat).at(1)));
  EXPECT_EQ(doubles(flat).at(2), -2);
  const auto rows = first_list(R"({"heights":[[1,2],[],[3,null]]})");
  EXPECT_EQ(rows.length, 3U);
  EXPECT_EQ(rows.column.size(), 4U);
  EXPECT_EQ(doubles(rows).at(2), 3);
  EXPECT_FALSE(first_list(R"({"heights":[[1],2]})").valid);
  EXPECT_FALSE(first_list(R"({"heights":[1,[2]]})").valid);
}

TEST(JsonLists, AnElementThatDoesNotFitMakesTheListNotValidButItsLengthIsKnown) {
  for (const char* text : {R"({"points":[[1,2,3],[1,2]]})", R"({"points":[[1,2,3],[1,2,3,4]]})",
                           R"({"points":[[1,2,3],["1",2,3]]})", R"({"points":[[1,2,3],{"a":["]"]}]})",
                           R"({"points":[[1,2,1e999],null]})", R"({"numbers":[1,"["]})",
                           R"({"numbers":[[1],2]})", R"({"flags":[true,1]})", R"({"numbers":[null,0]})"}) {
    const auto list = first_list(text);
    EXPECT_FALSE(list.valid) << text;
    EXPECT_EQ(list.length, 2U) << text;
    EXPECT_EQ(list.column.size(), 0U) << text;
  }
}

TEST(JsonLists, OtherValuesInTheirPlaceStay) {
  EXPECT_EQ(read(R"({"points":{"a":1},"numbers":null,"inner":[1,2]})").rest,
            R"({"points":{"a":1},"numbers":null,"inner":[1,2]})");
  EXPECT_EQ(read(R"([{"points":[[1,2,3]]}])").rest, R"([{"points":[[1,2,3]]}])");
}

TEST(JsonLists, KeysThatTheShapeDoesNotHaveLoseTheirValues) {
  EXPECT_EQ(read(R"({"other":[1,2,3],"inner":{"numbers":[1],"more":"text"},"p\u006fints":[]})").rest,
            R"({"other":null,"inner":{"numbers":"T0","more":null},"p\u006fints":"T1"})");
}

TEST(JsonLists, ListsInsideListsOfObjects) {
  const auto found =
      read(R"({"items":[{"points":[[1,2,3]],"name":"a"},{},7,{"points":[[4,5]],"more":[1]}]})");
  EXPECT_EQ(found.rest, R"({"items":[{"points":"T0","name":"a"},{},7,{"points":"T1","more":null}]})");
  ASSERT_EQ(found.lists.size(), 2U);
  EXPECT_TRUE(found.lists[0].valid);
  EXPECT_FALSE(found.lists[1].valid);
  EXPECT_EQ(read(R"({"items":{"points":[[1,2,3]]}})").rest, R"({"items":{"points":[[1,2,3]]}})");
  EXPECT_NE(problem(R"({"items":[{"points":[]})"), "");
  EXPECT_NE(problem(R"({"items":[{}]})", {1000, 2}), "");
}

TEST(JsonLists, NumbersAreRoundedCorrectly) {
  const std::vector<std::string> texts = {"0",
                                          "-0",
                                          "0.1",
                                          "1e22",
                                          "1e23",
                                          "9007199254740993",
                                          "123456789012345678901234567890",
                                          "5e-324",
                                          "2.4703282292062328e-324",
                                          "1.7976931348623157e308",
                                          "0.000000000000000000000000000001",
                                          "1E+2",
                                          "1.5e-10",
                                          "4.35",
                                          "0.30000000000000004",
                                          "8.5",
                                          "12345678",
                                          "123456789.12345678",
                                          "1234567890123456.7"};
  std::string list;
  for (const auto& text : texts) list += (list.empty() ? "" : ",") + text;
  const auto values = doubles(first_list(R"({"numbers":[)" + list + "]}"));
  ASSERT_EQ(values.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const double wanted = std::strtod(texts[i].c_str(), nullptr);
    EXPECT_EQ(values[i], wanted) << texts[i];
    EXPECT_EQ(std::signbit(values[i]), std::signbit(wanted)) << texts[i];
  }
}

TEST(JsonLists, WhatIsNotJsonIsRefusedWithItsPlace) {
  for (const char* text : {"{",
                           "{]",
                           "[1,]",
                           "[,1]",
                           "{\"a\":1,}",
                           "{\"a\"}",
                           "{a:1}",
                           "[01]",
                           "[1.]",
                           "[.5]",
                           "[+1]",
                           "[1e]",
                           "[-]",
                           "nul",
                           "[tru]",
                           "\"",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\t\"",
                           "1 2",
                           "[1 2]",
                           "{\"points\":[[1,2,3]",
                           "[NaN]",
                           "{\"points\":[[1,2,3],]}",
                           "{\"numbers\":[1,,2]}",
                           "{\"numbers\":[1}",
                           "'a'",
                           "[1]]",
                           "{\"flags\":[True]}"}) {
    EXPECT_NE(problem(text), "") << text;
  }
  EXPECT_EQ(problem("{\"numbers\":[1,,2]}"), "the body is not valid JSON: a value is expected at byte 14");
  EXPECT_EQ(problem(std::string("[1\0]", 4)),
            "the body is not valid JSON: a comma or ] is expected at byte 2");
}

TEST(JsonLists, LimitsOfDepthAndOfTheRest) {
  EXPECT_EQ(problem("[[[]]]", {1000, 3}), "");
  EXPECT_NE(problem("[[[[]]]]", {1000, 3}).find("deeper than 3 levels"), std::string::npos);
  EXPECT_NE(problem(R"({"points":[[1]]})", {1000, 2}).find("deeper"), std::string::npos);
  EXPECT_EQ(read(R"({"value":"12345678"})", {20, 9}).rest.size(), 20U);
  EXPECT_TRUE(read(R"({"value":"123456789"})", {20, 9}).too_large);
  EXPECT_TRUE(read(R"({"numbers":[],"numbers":[]})", {20, 9}).too_large);
}

TEST(JsonLists, KeysThatChangePrototypesAreRefused) {
  EXPECT_NE(problem(R"({"__proto__":1})"), "");
  EXPECT_NE(problem(R"({"other":[{"\u005f_proto__":1}]})"), "");
  EXPECT_NE(problem(R"({"constructor":{"prototype":1}})"), "");
  EXPECT_EQ(problem(R"({"prototype":{"constructor":1}})"), "");
}

TEST(JsonLists, BlankTextsAndByteOrderMarks) {
  EXPECT_TRUE(read(" \n\t").blank);
  EXPECT_TRUE(read("").blank);
  EXPECT_EQ(read("\xef\xbb\xbf{}").rest, "{}");
}

TEST(JsonLists, ACancelEndsTheCountAndTheReading) {
  std::string text = R"({"numbers":[)";
  for (int i = 0; i < 1'000'000; ++i) text += "1,";
  text += "1]}";
  JobControl control;
  control.cancel_requested = true;
  EXPECT_THROW(read(text, {1000, 10}, &control), Error);
}

TEST(JsonLists, ManyListsWithBracketsInStringsTakeLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 20'000; ++i) text += R"("numbers":["["],)";
  text += R"("value":1})";
  EXPECT_EQ(read(text, {1U << 24, 10}).lists.size(),
            20'000U);  // a 1000 times longer if each looked to the end of the text
}

JsonShape shape_of_records() {
  RecordField id;
  id.name = "id";
  id.min = 0;
  id.whole = true;
  RecordField start;
  start.name = "start";
  start.kind = RecordField::Kind::kPoint;
  RecordField radius;
  radius.name = "radius";
  radius.min = 0;
  radius.above_min = true;
  RecordField share;
  share.name = "share";
  share.max = 1;
  share.nullable = true;
  share.fallback = std::numeric_limits<double>::quiet_NaN();
  RecordField ids;
  ids.name = "ids";
  ids.kind = RecordField::Kind::kNumbers;
  ids.whole = true;
  ids.fallback = 0;
  JsonShape list{Kind::kRecords, {}, {id, ids, start, radius, share}};
  return {Kind::kObject, {{"trees", list}}};
}

JsonList read_records(const std::string& list) {
  const std::string text = R"({"trees":)" + list + "}";
  const std::string padded = text + std::string(kDecimalPadding, '\0');
  JobControl control;
  OpContext ctx(control);
  JsonDocument found =
      read_json_lists({padded.data(), text.size()}, shape_of_records(), "T", {1000, 10}, ctx);
  EXPECT_EQ(found.rest, R"({"trees":"T0"})");
  return std::move(found.lists.at(0));
}

TEST(JsonRecords, AreRowsInTheOrderOfTheFieldsWithTheLengthsOfTheirListsLast) {
  const JsonList found = read_records(
      R"([{"ids":[7, 8],"radius":1e-3,"start":[1,2,3],"id":4,"share":null},
          {"id":5,"start":[-1,0,1.5],"radius":2,"share":0.25,"radius":3}])");
  ASSERT_TRUE(found.valid);
  EXPECT_EQ(found.length, 2U);
  const auto rows = doubles(found);
  ASSERT_EQ(rows.size(), 14U);
  EXPECT_TRUE(std::isnan(rows[5]));
  EXPECT_EQ(std::vector<double>(rows.begin(), rows.begin() + 5), (std::vector<double>{4, 1, 2, 3, 1e-3}));
  EXPECT_EQ(std::vector<double>(rows.begin() + 6, rows.end()),
            (std::vector<double>{2, 5, -1, 0, 1.5, 3, 0.25, 0}));
  const auto items = found.items.as<double>();
  EXPECT_EQ(std::vector<double>(items.begin(), items.end()), (std::vector<double>{7, 8}));
}

TEST(JsonRecords, TheFirstOneAgainstARuleIsGivenBack) {
  const std::string good = R"({"id":1,"start":[0,0,0],"radius":1})";
  for (const std::string record : {
           "7",
           R"({"id":-1,"start":[0,0,0],"radius":1})",
           R"({"id":1.5,"start":[0,0,0],"radius":1})",
           R"({"id":1e300,"start":[0,0,0],"radius":1})",
           R"({"id":"1","start":[0,0,0],"radius":1})",
           R"({"id":1,"start":[0,0],"radius":1})",
           R"({"id":1,"start":[0,0,0,0],"radius":1})",
           R"({"id":1,"start":0,"radius":1})",
           R"({"id":1,"start":[0,0,1e999],"radius":1})",
           R"({"id":1,"start":[0,0,0],"radius":0})",
           R"({"id":1,"start":[0,0,0],"radius":null})",
           R"({"id":1,"start":[0,0,0]})",
           R"({"id":1,"start":[0,0,0],"radius":1,"share":2})",
           R"({"id":1,"start":[0,0,0],"radius":1,"ids":[1,[2]]})",
           R"({"id":1,"start":[0,0,0],"radius":1,"ids":null})",
       }) {
    const JsonList found = read_records("[" + good + ", " + record + " ,{}]");
    EXPECT_FALSE(found.valid) << record;
    EXPECT_EQ(found.wrong_index, 1U);
    EXPECT_EQ(found.wrong_text, record);
    EXPECT_EQ(found.length, 3U);
    EXPECT_EQ(found.column.size(), 0U);
  }
  const JsonList found = read_records("[{" + std::string(70000, ' ') + "}]");
  EXPECT_FALSE(found.valid);
  EXPECT_EQ(found.wrong_text, "");
}

TEST(JsonRecords, UnknownKeysAreNamedOnceAndAtMostSixteen) {
  std::string list;
  for (int i = 0; i < 40; ++i)
    list += std::string(i == 0 ? "" : ",") + R"({"id":1,"start":[0,0,0],"radius":1,"hue":[{}],"k)" +
            std::to_string(i) + R"(":2})";
  const JsonList found = read_records("[" + list + "]");
  ASSERT_TRUE(found.valid);
  ASSERT_EQ(found.unknown.size(), 16U);
  EXPECT_EQ(found.unknown[0], "[0].hue");
  EXPECT_EQ(found.unknown[1], "[0].k0");
  EXPECT_EQ(found.unknown[2], "[1].k1");
  EXPECT_EQ(read_records("[]").length, 0U);
}

}  // namespace
}  // namespace pc::io
