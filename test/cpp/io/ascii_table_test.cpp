#include "io/ascii_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "io/ascii_table_support.h"

namespace {

using namespace pc::text_test;  // NOLINT: the vocabulary of these tests

TEST(AsciiTable, ReadsEveryDelimiter) {
  const auto expect = [](const CloudTable& t) {
    ASSERT_EQ(t.positions.size(), 2u);
    EXPECT_EQ(t.positions[0], (pc::Vec3d{1.5, -2.25, 3}));
    EXPECT_EQ(t.positions[1], (pc::Vec3d{4, 5e3, 0.5}));
    EXPECT_EQ(at(t, 0, 0), 7);
    EXPECT_EQ(at(t, 0, 1), 8);
    EXPECT_TRUE(t.warnings.empty()) << all_warnings(t);
  };
  expect(read_string("1.5,-2.25,3,7\n4,5e3,.5,8\n", layout(TextDelimiter::kComma, 4)));
  expect(read_string("1.5;-2.25;3;7\r\n4;5e3;.5;8\r\n", layout(TextDelimiter::kSemicolon, 4)));
  expect(read_string("1.5\t-2.25\t3\t7\n 4 \t5E3\t.5\t8", layout(TextDelimiter::kTab, 4)));
  expect(read_string("  1.5   -2.25\t3  7  \n\n4 +5D3 .5 8 \n", layout(TextDelimiter::kWhitespace, 4)));
  expect(read_string("1.5,-2.25,3,7\r4,5e3,.5,8\r", layout(TextDelimiter::kComma, 4)));
  expect(read_string("\xef\xbb\xbf\"1.5\",\"-2.25\",\"3\",\"7\"\n4, 5e3 ,.5,\"8\",\n",
                     layout(TextDelimiter::kComma, 4)));
  auto comma = layout(TextDelimiter::kSemicolon, 4);
  comma.decimal_comma = true;
  expect(read_string("1,5;-2,25;3;7\n4;5e3;,5;8\n", comma));
}

TEST(AsciiTable, AppliesUnitScaleAndShiftInDouble) {
  auto params = layout(TextDelimiter::kWhitespace, 3);
  params.frame = {0.3048, {1e7, 2, 3}};
  const auto t = read_string("32808398.95 10 20\n", params);
  EXPECT_EQ(t.positions[0], (pc::Vec3d{32808398.95 * 0.3048 - 1e7, 10 * 0.3048 - 2, 20 * 0.3048 - 3}));
}

TEST(AsciiTable, TakesPositionsFromAnyColumnAndKeepsTheRequestedOrder) {
  TextReadParams params{TextDelimiter::kComma, false, 1, 6, 4, 2, 0, {}, {}, 0};
  params.columns = {{5, "last", TextColumnType::kAuto}, {1, "first", TextColumnType::kAuto}};
  const auto t = read_string("header\n3,10,2,name,1,20\n", params);
  EXPECT_EQ(t.positions[0], (pc::Vec3d{1, 2, 3}));
  ASSERT_EQ(t.columns.size(), 2u);
  EXPECT_EQ(t.columns[0].name, "last");
  EXPECT_EQ(at(t, 0, 0), 20);
  EXPECT_EQ(at(t, 1, 0), 10);
  EXPECT_TRUE(t.columns[0].extra);
}

DType type_of(const std::string& first, const std::string& second,
              TextColumnType type = TextColumnType::kAuto) {
  auto params = layout(TextDelimiter::kComma, 4);
  params.columns[0].type = type;
  const auto t = read_string("0,0,0," + first + "\n0,0,0," + second + "\n", params);
  EXPECT_EQ(t.columns.size(), 1u);
  EXPECT_EQ(at(t, 0, 0), std::strtod(first.c_str(), nullptr)) << first;
  return t.columns.empty() ? DType::kVec3d : t.columns[0].values.dtype();
}

TEST(AsciiTable, TakesTheNarrowestTypeThatKeepsEveryDigit) {
  EXPECT_EQ(type_of("0", "255"), DType::kU8);
  EXPECT_EQ(type_of("-1", "127"), DType::kI8);
  EXPECT_EQ(type_of("256", "0"), DType::kU16);
  EXPECT_EQ(type_of("-1", "128"), DType::kI16);
  EXPECT_EQ(type_of("65536", "4294967295"), DType::kU32);
  EXPECT_EQ(type_of("-40000", "3.0"), DType::kI32);
  EXPECT_EQ(type_of("4294967296", "0"), DType::kU64);
  EXPECT_EQ(type_of("-4294967296", "0"), DType::kI64);
  EXPECT_EQ(type_of("9007199254740992", "9007199254740994"), DType::kU64);
  EXPECT_EQ(type_of("18446744073709549568", "0"), DType::kU64);
  EXPECT_EQ(type_of("-9223372036854775808", "0"), DType::kI64);
  EXPECT_EQ(type_of("0.5", "1"), DType::kF32);
  EXPECT_EQ(type_of("0.500000000", "-0"), DType::kF32);
  EXPECT_EQ(type_of("0.12345678", "1"), DType::kF64);
  EXPECT_EQ(type_of("16777217", "0.5"), DType::kF64);
  EXPECT_EQ(type_of("8589973e3", "0.5"), DType::kF64);  // seven digits that float32 prints as 8589972e3
  EXPECT_EQ(type_of("0.5", "1e300"), DType::kF64);
  EXPECT_EQ(type_of("0.5", "1e-40"), DType::kF64);
  EXPECT_EQ(type_of("1e-50", "1"), DType::kF64);
  EXPECT_EQ(type_of("5", ""), DType::kF32);
  EXPECT_EQ(type_of("5", "nan"), DType::kF32);
  EXPECT_EQ(type_of("5", "inf"), DType::kF32);
  EXPECT_EQ(type_of("123456789", "nan"), DType::kF64);
  EXPECT_EQ(type_of("5", "7", TextColumnType::kFloat), DType::kF32);
  EXPECT_EQ(type_of("123456789", "7", TextColumnType::kFloat), DType::kF64);
  EXPECT_EQ(type_of("5", "7", TextColumnType::kF64), DType::kF64);
}

TEST(AsciiTable, SaysWhenWholeNumbersLoseDigits) {
  const auto t = read_string("0 0 0 9007199254740993\n0 0 0 5\n0 0 0 18446744073709551615\n",
                             layout(TextDelimiter::kWhitespace, 4));
  EXPECT_EQ(t.columns[0].values.dtype(), DType::kF64);
  EXPECT_TRUE(warns(t, "column 4 ('c3'): 2 whole numbers beyond 2^53 rounded to float64 (first on line 1)"));
}

TEST(AsciiTable, DropsAndReportsBadRows) {
  const std::string text =
      "x y z i\n"       // 1
      "1 1 1 5\n"       // 2
      "# remark\n"      // 3
      "oops 1 1 5\n"    // 4
      "1 1\n"           // 5
      "\n"              // 6
      "1 nan 1 5\n"     // 7
      "2 2 2\n"         // 8
      "3 3 3 6 7 8\n"   // 9
      "4 4 4 bad!\n"    // 10
      "// end\n"        // 11
      "1e400 0 0 1\n";  // 12
  for (const std::size_t chunk : {1ul, 7ul, 1000ul}) {
    const TextFile file(text);
    const auto t = read(file.path(), layout(TextDelimiter::kWhitespace, 4, 1), chunk);
    ASSERT_EQ(t.positions.size(), 4u);
    EXPECT_EQ(t.malformed_dropped, 2u);
    EXPECT_EQ(t.nonfinite_dropped, 2u);
    EXPECT_TRUE(warns(t, "2 rows dropped: x, y or z missing or not a number (lines 4, 5)"))
        << all_warnings(t);
    EXPECT_TRUE(warns(t, "2 rows dropped: x, y or z is NaN or infinite (first on line 7)"));
    EXPECT_TRUE(warns(t, "1 row with fewer than 4 columns (first on line 8)"));
    EXPECT_TRUE(warns(t, "1 row with more than 4 columns (first on line 9)"));
    EXPECT_TRUE(warns(t, "2 comment lines among the data left out (first on line 3)"));
    EXPECT_TRUE(warns(t, "1 value empty or not a number, stored as NaN (first on line 10: 'bad!')"));
    EXPECT_EQ(at(t, 0, 0), 5);
    EXPECT_TRUE(std::isnan(at(t, 0, 1)));
    EXPECT_EQ(at(t, 0, 2), 6);
    EXPECT_TRUE(std::isnan(at(t, 0, 3)));
  }
}

TEST(AsciiTable, NamesOnlyTheFirstFiveBadLines) {
  std::string text = "0 0 0\n";
  for (int i = 0; i < 9; ++i) text += "bad\n";
  const TextFile file(text);
  for (const std::size_t chunk : {3ul, 1000ul}) {
    const auto t = read(file.path(), layout(TextDelimiter::kWhitespace, 3), chunk);
    EXPECT_EQ(t.malformed_dropped, 9u);
    EXPECT_TRUE(warns(t, "(lines 2, 3, 4, 5, 6, ...)")) << all_warnings(t);
  }
}

TEST(AsciiTable, LeavesOutColumnsOfNames) {
  const auto t = read_string("a,1,2,3,oak\nb,4,5,6,pine\n", [] {
    TextReadParams p{TextDelimiter::kComma, false, 0, 5, 1, 2, 3, {}, {}, 0};
    p.columns = {{0, "id", TextColumnType::kAuto}, {4, "species", TextColumnType::kF64}};
    return p;
  }());
  EXPECT_EQ(t.positions.size(), 2u);
  EXPECT_TRUE(t.columns.empty());
  EXPECT_TRUE(warns(t, "column 5 ('species') left out: it holds no numbers (first on line 1: 'oak')"));
  const auto nans = read_string("1,2,3,nan\n", layout(TextDelimiter::kComma, 4));
  EXPECT_EQ(nans.columns.size(), 1u);
}

TEST(AsciiTable, QuotesHoldDelimitersAndQuotes) {
  TextReadParams p = layout(TextDelimiter::kComma, 5);
  p.columns = {{4, "v", TextColumnType::kAuto}};
  const auto t = read_string("1,2,3,\"a,\"\"b\"\",c\",9\n1,2,3,\"open,9\n", p);
  ASSERT_EQ(t.positions.size(), 2u);
  EXPECT_EQ(at(t, 0, 0), 9);
  EXPECT_TRUE(std::isnan(at(t, 0, 1)));
  const auto blanks = read_string("1,2,3,\"4\"\r\n1,2,\"3\" ,\"4\"x\r\n", layout(TextDelimiter::kComma, 4));
  ASSERT_EQ(blanks.positions.size(), 2u);
  EXPECT_EQ(at(blanks, 0, 0), 4);
  EXPECT_TRUE(std::isnan(at(blanks, 0, 1)));
}

}  // namespace
