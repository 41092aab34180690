#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/random.h"
#include "io/ascii_table.h"
#include "io/ascii_table_support.h"
#include "support/cancel.h"

namespace {

using namespace pc::text_test;  // NOLINT: the vocabulary of these tests

TEST(AsciiTable, ErrorsNameFileLineAndReason) {
  const TextFile names("name other thing\n");
  const auto none = error_of(pc::ErrorCode::kInvalidFile,
                             [&] { read(names.path(), layout(TextDelimiter::kWhitespace, 3)); });
  EXPECT_TRUE(mentions(none, names.path() + ": no valid rows: line 1 has 3 columns")) << none;
  const TextFile empty("");
  EXPECT_TRUE(mentions(
      error_of(pc::ErrorCode::kInvalidFile, [&] { read(empty.path(), layout(TextDelimiter::kComma, 3, 2)); }),
      "no valid rows: there is no data after line 2"));
  const TextFile nan("nan 1 2\n");
  EXPECT_TRUE(mentions(
      error_of(pc::ErrorCode::kInvalidFile, [&] { read(nan.path(), layout(TextDelimiter::kWhitespace, 3)); }),
      "every position is NaN or infinite, first on line 1"));
  const TextFile narrow("1 2 3 4\n5 6 7 8\n");
  const auto beyond = error_of(pc::ErrorCode::kInvalidFile,
                               [&] { read(narrow.path(), layout(TextDelimiter::kWhitespace, 7)); });
  EXPECT_TRUE(mentions(beyond, "column 5 ('c4') is declared, but line 1 has only 4 columns")) << beyond;
  error_of(pc::ErrorCode::kNotFound,
           [&] { read(narrow.path() + ".absent", layout(TextDelimiter::kComma, 3)); });
  auto twice = layout(TextDelimiter::kComma, 4);
  twice.x_index = 3;
  error_of(pc::ErrorCode::kInvalidArgument, [&] { read(narrow.path(), twice); });
  auto both = layout(TextDelimiter::kComma, 4);
  both.decimal_comma = true;
  error_of(pc::ErrorCode::kInvalidArgument, [&] { read(narrow.path(), both); });
}

TEST(AsciiTable, RefusesOtherEncodings) {
  const auto why = [](const std::string& text) {
    const TextFile file(text);
    const auto read_error =
        error_of(pc::ErrorCode::kInvalidFile, [&] { read(file.path(), layout(TextDelimiter::kComma, 3)); });
    EXPECT_EQ(read_error, error_of(pc::ErrorCode::kInvalidFile, [&] {
                pc::JobControl control;
                pc::OpContext ctx(control, pc::Device::kCpu, 1);
                pc::io::sample_text(file.path(), 10, ctx);
              }));
    return read_error;
  };
  EXPECT_TRUE(mentions(why(std::string("\xff\xfe") + std::string("1\0 \0", 4)), "UTF-16"));
  EXPECT_TRUE(mentions(why("\xfe\xff"
                           "abc"),
                       "UTF-16"));
  EXPECT_TRUE(
      mentions(why(std::string("1 2 3\n4 \0 5\n", 12)), "binary file, not text (NUL byte at offset 8)"));
}

TEST(AsciiTable, LongLinesAreRefusedNotLoaded) {
  const std::string digits(pc::io::kMaxTextLineBytes + 2000, '1');
  const TextFile first(digits);
  EXPECT_TRUE(mentions(
      error_of(pc::ErrorCode::kInvalidFile, [&] { read(first.path(), layout(TextDelimiter::kComma, 3)); }),
      "line 1 is longer than 16 MiB"));
  const TextFile later("1,2,3\n" + digits + "\n4,5,6\n");
  EXPECT_TRUE(mentions(
      error_of(pc::ErrorCode::kInvalidFile, [&] { read(later.path(), layout(TextDelimiter::kComma, 3)); }),
      "the line at byte 6 is longer than 16 MiB"));
  const TextFile fits("1,2,3\n4,5," + std::string(5'000'000, '0') + "1\n7,8,9\n");  // longer than a chunk
  const auto t = read(fits.path(), layout(TextDelimiter::kComma, 3));
  ASSERT_EQ(t.positions.size(), 3u);
  EXPECT_EQ(t.positions[1], (pc::Vec3d{4, 5, 1}));
}

/// Peak of pages while a file of `columns` columns is refused: one full row, then `gap` rows of three values.
std::uint64_t peak_of_holes(int columns, int gap, std::size_t bytes) {
  std::string wide = "0,0,0";
  for (int i = 3; i < columns; ++i) wide += ",.1";
  std::string text;
  while (text.size() < bytes) {
    text += wide + "\n";
    for (int k = 0; k < gap; ++k) text += "0,0,0\n";
  }
  const TextFile file(text);
  const auto before = pc::bulk_bytes_in_use();
  pc::reset_bulk_bytes_peak();
  const auto why = error_of(pc::ErrorCode::kInvalidFile, [&] {
    read(file.path(), layout(TextDelimiter::kComma, static_cast<std::uint32_t>(columns)));
  });
  EXPECT_TRUE(mentions(why, "filling the holes")) << why;
  EXPECT_EQ(pc::bulk_bytes_in_use(), before);
  return pc::bulk_bytes_peak() - before;
}

TEST(AsciiTable, HolesCannotOutgrowTheFile) {
  constexpr std::size_t kBytes = 3'000'000, kLimit = (64u << 20) + 20 * kBytes;
  constexpr std::size_t kBuffers = 16u << 20;                       // text and batches of two workers
  EXPECT_LT(peak_of_holes(50, 600, kBytes), kLimit + kBuffers);     // too much while it is packed
  EXPECT_LT(peak_of_holes(5000, 4000, kBytes), kLimit + kBuffers);  // too much when it is joined
}

TEST(AsciiTable, ReadsThousandsOfColumns) {
  std::string wide = "0,0,0";
  for (int i = 3; i < 5000; ++i) wide += "," + std::to_string(i);
  const auto t = read_string(wide + "\n" + wide + "\n" + wide, layout(TextDelimiter::kComma, 5000));
  ASSERT_EQ(t.columns.size(), 4997u);
  EXPECT_EQ(t.columns.back().values.dtype(), DType::kU16);
  for (std::size_t i = 0; i < t.columns.size(); ++i) EXPECT_EQ(at(t, i, 2), static_cast<double>(i + 3));
}

std::string random_table(std::uint64_t rows) {
  std::string text;
  char line[160];
  for (std::uint64_t i = 0; i < rows; ++i) {
    const auto u = [&](std::uint64_t seed) { return pc::random_unit(seed, i); };
    std::snprintf(line, sizeof line, "%.4f %.3f %.17g %d %.3f %d", 1e7 * u(1), -500 * u(2), u(3),
                  static_cast<int>(300 * u(4)), u(5), static_cast<int>(-70000 * u(6)));
    text += line;
    if (i % 97 == 5) text += " 1 surplus";
    if (i % 89 == 7) text = text.substr(0, text.size() - 9) + " ";
    if (i % 83 == 3) text += "x";
    text += i % 11 == 0 ? "\r\n" : "\n";
    if (i % 131 == 0) text += "# remark\n\n";
    if (i % 71 == 0) text += "1 2\n";
    if (i % 73 == 0) text += "inf 2 3 4 5 6\n";
  }
  return text;
}

TEST(AsciiTable, ResultDependsNeitherOnChunksNorOnThreads) {
  for (const std::uint64_t rows : {1u, 40u, 5000u}) {
    const TextFile file(random_table(rows));
    const auto expected = fingerprint(read(file.path(), layout(TextDelimiter::kWhitespace, 6), 1 << 30, 1));
    for (const std::size_t chunk :
         rows == 5000 ? std::vector<std::size_t>{997, 65536} : std::vector<std::size_t>{1, 2, 13, 64}) {
      for (const int threads : {1, 2, 5}) {
        EXPECT_EQ(fingerprint(read(file.path(), layout(TextDelimiter::kWhitespace, 6), chunk, threads)),
                  expected)
            << rows << " rows, chunks of " << chunk << ", " << threads << " threads";
      }
    }
  }
}

TEST(AsciiTable, MatchesASlowReader) {
  const std::string text = random_table(3000);
  const TextFile file(text);
  const auto t = read(file.path(), layout(TextDelimiter::kWhitespace, 6), 4096);
  std::ifstream in(file.path(), std::ios::binary);
  std::size_t row = 0;
  for (std::string line; std::getline(in, line);) {
    double v[3];
    char tail = ' ';
    if (std::sscanf(line.c_str(), "%lf %lf %lf%c", &v[0], &v[1], &v[2], &tail) < 3 || tail != ' ' ||
        !std::isfinite(v[0]))
      continue;
    ASSERT_LT(row, t.positions.size());
    ASSERT_EQ(t.positions[row], (pc::Vec3d{v[0], v[1], v[2]})) << line;
    ++row;
  }
  EXPECT_EQ(row, t.positions.size());
  EXPECT_GT(row, 2900u);
}

TEST(AsciiTable, FilesCutAnywhereNeverCrash) {
  const std::string text =
      "\xef\xbb\xbf"
      "x;y;z;i\r\n\"1,5\";2;3;\"4\"\r\n5;6;nan;7\r\n8,25;9e-3;10;-11\r\n// a\r\n12;13;14;1e400\r\n";
  auto params = layout(TextDelimiter::kSemicolon, 4, 1);
  params.decimal_comma = true;
  std::size_t read_count = 0;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const TextFile file(text.substr(0, size));
    for (const std::size_t chunk : {5ul, 4096ul}) {
      try {
        read_count += read(file.path(), params, chunk).positions.size() > 0;
      } catch (const pc::Error& error) {
        EXPECT_EQ(error.code(), pc::ErrorCode::kInvalidFile) << error.what();
      }
    }
  }
  EXPECT_GT(read_count, 100u);
}

TEST(AsciiTable, MaxRowsStopsAtTheRow) {
  std::string text = "bad\n";
  for (int i = 0; i < 5000; ++i) text += std::to_string(i) + " 0 0 1\n" + (i == 2500 ? "bad\n" : "");
  const TextFile file(text);
  auto params = layout(TextDelimiter::kWhitespace, 4);
  params.max_rows = 2100;
  for (const std::size_t chunk : {100ul, 1ul << 20}) {
    const auto t = read(file.path(), params, chunk);
    ASSERT_EQ(t.positions.size(), 2100u);
    EXPECT_EQ(t.positions[2099].x, 2099);
    EXPECT_EQ(t.malformed_dropped, 1u);
  }
  params.max_rows = 1'000'000;
  EXPECT_EQ(read(file.path(), params).positions.size(), 5000u);
}

TEST(AsciiTable, DuplicatesAndZeroesStay) {
  const auto t = read_string("0 0 0\n0 0 0\n-0 0 0\n", layout(TextDelimiter::kWhitespace, 3));
  EXPECT_EQ(t.positions.size(), 3u);
}

TEST(AsciiTable, CancelStopsInTime) {
  std::string block = random_table(20'000), text;
  for (int i = 0; i < 12; ++i) text += block;
  const TextFile file(text);
  const auto run = [&](pc::OpContext& ctx) {
    pc::io::read_text(file.path(), layout(TextDelimiter::kWhitespace, 6), 1 << 18, ctx);
  };
  pc::test::expect_cancel_in_time(run, {"", 1, {}, 2});
}

TEST(TextSample, GivesWholeLinesWithoutEnds) {
  const auto s = sample(
      "\xef\xbb\xbf"
      "a b\r\nc\n\nlast",
      10);
  EXPECT_EQ(s.lines, (std::vector<std::string>{"a b", "c", "", "last"}));
  EXPECT_TRUE(s.complete);
  EXPECT_EQ(s.file_bytes, 15u);
  EXPECT_EQ(sample("a\rb\rc").lines, (std::vector<std::string>{"a", "b", "c"}));
  const auto cut = sample("1\n2\n3\n", 2);
  EXPECT_EQ(cut.lines.size(), 2u);
  EXPECT_FALSE(cut.complete);
  EXPECT_TRUE(sample("").lines.empty());
}

TEST(TextSample, ReadsOnlyTheHead) {
  std::string text(3 << 20, '7');
  text += "\n1 2 3\n";
  EXPECT_EQ(sample(text).lines.size(), 2u);  // the first line alone is longer than the usual head
  std::string many;
  for (int i = 0; i < 400'000; ++i) many += "1 2 3 4\n";
  const auto s = sample(many, 1'000'000);
  EXPECT_FALSE(s.complete);
  EXPECT_EQ(s.lines.size(), (1u << 20) / 8);
}

std::string test_data(const std::string& name) {
  const char* root = std::getenv("APP_TEST_DATA");
  return (root != nullptr ? std::string(root) : std::string("../shared/data")) + "/" + name;
}

TEST(AsciiTableData, RealFilesHaveTheirRows) {
  struct Case {
    const char* name;
    TextDelimiter delimiter;
    std::uint32_t columns;
    std::uint64_t skip;
    std::size_t rows;
  };
  const Case cases[] = {{"trees_tls/itsme_buttressed1.txt", TextDelimiter::kWhitespace, 3, 0, 64082},
                        {"trees_tls/itsme_dtm.txt", TextDelimiter::kComma, 3, 0, 11415},
                        {"trees_tls/itsme_tree1.txt", TextDelimiter::kWhitespace, 3, 0, 30826},
                        {"trees_tls/itsme_tree2.txt", TextDelimiter::kWhitespace, 3, 0, 51750},
                        {"leaf_wood/lewos_tropical.xyz", TextDelimiter::kWhitespace, 4, 1, 50000},
                        {"leaf_wood/weiser_oak.xyz", TextDelimiter::kWhitespace, 4, 1, 50000},
                        {"text_tables/points_agisoft.xyz", TextDelimiter::kWhitespace, 6, 0, 100},
                        {"text_tables/pdal_crlf_test.txt", TextDelimiter::kComma, 4, 1, 10},
                        {"text_tables/treecompr_tinytree2.csv", TextDelimiter::kSemicolon, 3, 1, 10},
                        {"ptx_pts/test.pts", TextDelimiter::kWhitespace, 7, 1, 19}};
  for (const Case& c : cases) {
    if (!std::filesystem::exists(test_data(c.name))) {
      std::printf("%s is absent: set APP_TEST_DATA\n", test_data(c.name).c_str());
      GTEST_SKIP();
    }
    auto params = layout(c.delimiter, c.columns, c.skip);
    params.decimal_comma = std::string(c.name) == "text_tables/treecompr_tinytree2.csv";
    const auto t = read(test_data(c.name), params);
    EXPECT_EQ(t.positions.size(), c.rows) << c.name;
    EXPECT_TRUE(t.warnings.empty()) << c.name << ": " << all_warnings(t);
    if (c.rows == 50000) {
      EXPECT_EQ(t.columns[0].values.dtype(), DType::kU8);
    }
  }
  const auto oak = read(test_data("leaf_wood/weiser_oak.xyz"), layout(TextDelimiter::kWhitespace, 4, 1));
  std::size_t wood = 0;
  for (const auto v : oak.columns[0].values.as<std::uint8_t>()) wood += v == 1;
  EXPECT_EQ(wood, 27926u);
  EXPECT_EQ(oak.positions[0], (pc::Vec3d{476773.26325, 5429145.98075, 263.394}));
}

}  // namespace
