#include <bit>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/random.h"
#include "io/ascii_table_support.h"

/// Rows of plain numbers are parsed by another body than all others (on processors with AVX2); both must agree with
/// strtod, with each other and on where a row ends.
namespace {

using namespace pc::text_test;

std::uint64_t pick(std::uint64_t seed, std::uint64_t i, std::uint64_t n) {
  return pc::random_u64(seed, i) % n;
}

/// Up to 19 characters, a point anywhere or nowhere, half of them negative; some just below, at and above 2^53.
std::string token(std::uint64_t i) {
  if (pick(8, i, 50) == 0) return std::to_string(9007199254740990 + pick(9, i, 5));
  const std::uint64_t count = 1 + pick(1, i, pick(2, i, 4) == 0 ? 18 : 8), point = pick(3, i, count + 2);
  std::string text;
  for (std::uint64_t k = 0; k < count; ++k)
    text += static_cast<char>('0' + (pick(4, i, 5) == 0 ? 0 : pick(5, i * 32 + k, 10)));
  if (point <= count) text.insert(static_cast<std::size_t>(point), ".");
  return (pick(6, i, 2) == 0 ? "-" : "") + text;
}

struct Style {
  TextDelimiter delimiter;
  std::string before, between, after;
};

/// All of them mean the same.
const std::vector<Style> kStyles = {
    {TextDelimiter::kWhitespace, "", " ", "\n"}, {TextDelimiter::kWhitespace, "  ", "\t  ", " \r\n"},
    {TextDelimiter::kComma, "", ",", "\n"},      {TextDelimiter::kComma, " ", ", \t", "\r\n"},
    {TextDelimiter::kTab, "", "\t", "\r\n"},     {TextDelimiter::kSemicolon, "", ";", "\n"}};

/// `exponent` follows the first number of every row.
std::string table(const Style& style, std::uint64_t rows, std::uint64_t columns,
                  const std::string& exponent = "") {
  std::string text;
  for (std::uint64_t i = 0; i < rows; ++i) {
    text += style.before;
    for (std::uint64_t c = 0; c < columns; ++c)
      text += (c == 0 ? "" : style.between) + token(i * columns + c) + (c == 0 ? exponent : "");
    text += style.after;
  }
  return text;
}

std::uint64_t bits(double v) { return std::bit_cast<std::uint64_t>(v); }

TEST(PlainRows, HaveTheBitsOfStrtod) {
  constexpr std::uint64_t kRows = 20'000, kColumns = 5;
  for (const Style& style : kStyles) {
    auto params = layout(style.delimiter, kColumns);
    for (auto& column : params.columns) column.type = TextColumnType::kF64;
    const CloudTable t = read_string(table(style, kRows, kColumns), params);
    ASSERT_EQ(t.positions.size(), kRows);
    for (std::uint64_t i = 0; i < kRows; ++i) {
      const double found[] = {t.positions[i].x, t.positions[i].y, t.positions[i].z, at(t, 0, i), at(t, 1, i)};
      for (std::uint64_t c = 0; c < kColumns; ++c) {
        const std::string text = token(i * kColumns + c);
        const double wanted = std::strtod(text.c_str(), nullptr);
        // A position goes through the frame: -0 * 1 - 0 is -0, and so are the bits.
        ASSERT_EQ(bits(found[c]), bits(wanted)) << text << " in row " << i << ", column " << c;
      }
    }
  }
}

TEST(PlainRows, HaveTheTypesAndWarningsOfOtherRows) {
  for (const Style& style : kStyles) {
    for (const std::uint64_t columns : {3u, 4u, 9u, 40u}) {
      auto params = layout(style.delimiter, static_cast<std::uint32_t>(columns));
      if (columns > 4) params.columns.erase(params.columns.begin() + 1);  // one that nobody wants
      std::string plain = table(style, 300, columns), quoted;
      // A quoted number is never plain.
      bool starts = true;
      const auto numeric = [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; };
      for (std::size_t k = 0; k < plain.size(); ++k) {
        if (numeric(plain[k]) && starts) quoted += '"';
        if (!numeric(plain[k]) && k > 0 && numeric(plain[k - 1])) quoted += '"';
        starts = !numeric(plain[k]);
        quoted += plain[k];
      }
      EXPECT_EQ(fingerprint(read_string(plain, params)), fingerprint(read_string(quoted, params))) << columns;
    }
  }
}

TEST(PlainRows, EndWhereOtherRowsEnd) {
  // Each among plain rows, and alone after a number that is not plain.
  const std::vector<std::string> odd = {
      "1 2 3",       "1 2 3 4 5", "1 2 3 4\r5",  "1 2\r3 4",   "1 2 3 4 \r",   "1 2 3 \r",  "1 2 3 4\r\r",
      "# 1 2 3 4",   "//1 2 3 4", "1 2 3 x",     "x 2 3 4",    "1 2 3 \"4\"",  "",          " ",
      "1 2 - 4",     "1 2 . 4",   "1 2 1.2.3 4", "1 2 3-4 4",  "1 2 +3 4",     "1 2 3e2 4", "1 2 nan 4",
      "1 2 3 nan",   "1,2 3 4 5", "1 2 3 4 \t ", "\t1 2 3 4",  "1 2 3 4 # no", "1 2 3 4  ", "1 2 \" 3 4",
      "1 2 3 \"4 5", "\r",        "1 2 3 4,",    "1\t2\t3\t4", "1 2 3 \r4"};
  for (const bool wanted : {true, false}) {
    for (const Style& style : kStyles) {
      for (std::string line : odd) {
        for (char& c : line)
          c = c == ' ' && style.delimiter != TextDelimiter::kWhitespace ? style.between[0] : c;
        auto params = layout(style.delimiter, 4);
        if (!wanted) params.columns.clear();
        const auto text = [&](const std::string& exponent) {
          return table(style, 3, 4, exponent) + line + "\n" + table(style, 3, 4, exponent) + line + "\n";
        };
        const CloudTable plain = read_string(text(""), params), other = read_string(text("e0"), params);
        EXPECT_EQ(all_warnings(plain), all_warnings(other)) << line;
        EXPECT_EQ(plain.positions.size(), other.positions.size()) << line;
        EXPECT_EQ(plain.malformed_dropped, other.malformed_dropped) << line;
      }
    }
  }
}

TEST(PlainRows, MayBeLongerThanOneBlock) {
  auto params = layout(TextDelimiter::kWhitespace, 5);
  params.columns.erase(params.columns.begin());  // of "name"
  std::string text;
  for (std::size_t n = 1; n < 200; ++n)
    text += "1 2 3" + std::string(n, ' ') + "name" + std::string(3, ' ') + "5\n";
  const CloudTable t = read_string(text, params);
  ASSERT_EQ(t.positions.size(), 199u);
  EXPECT_TRUE(t.warnings.empty()) << all_warnings(t);
  for (std::size_t i = 0; i < t.positions.size(); ++i) EXPECT_EQ(at(t, 0, i), 5) << i;
}

/// Rows of 6 bytes and of 100; which of them stand where the number of rows is estimated?
TEST(PlainRows, ArriveInOrderWhateverTheEstimate) {
  constexpr std::size_t kBytes = 3 << 20, kPlace = kBytes / 16;
  for (const bool short_there : {true, false}) {
    std::string text;
    std::size_t rows = 0;
    while (text.size() < kBytes) {
      const bool there = text.size() % kPlace < 20'000;
      text +=
          std::to_string(rows++ % 10) + " 0 " + (there == short_there ? "0" : std::string(100, '0')) + "\n";
    }
    const TextFile file(text);
    for (const std::size_t chunk : {std::size_t{50'000}, std::size_t{1} << 20}) {
      const CloudTable t = read(file.path(), layout(TextDelimiter::kWhitespace, 3), chunk);
      ASSERT_EQ(t.positions.size(), rows);
      for (std::size_t i = 0; i < rows; ++i) ASSERT_EQ(t.positions[i].x, static_cast<double>(i % 10)) << i;
    }
  }
}

}  // namespace
