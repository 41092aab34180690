#include <gtest/gtest.h>

#include "core/memory.h"
#include "io/las_checks.h"
#include "io/laz_builder.h"

namespace pc::io {
namespace {

using namespace las_test;

LasFile scan(int format, std::uint64_t rows, std::uint16_t extra_bytes = 0) {
  LasFile file;
  file.format = format;
  file.extra_bytes = extra_bytes;
  scan_points(file, rows, 11);
  return file;
}

/// Byte of the LASzip record's payload: the last record before the points.
std::size_t laszip_at(const Bytes& laz, std::size_t payload) {
  std::uint32_t points_at;
  std::memcpy(&points_at, laz.data() + 96, 4);
  return points_at - payload;
}

TEST(LazMalformed, RefusalsNameTheField) {
  const Bytes good = compress(scan(7, 100, 2));
  const std::size_t at = laszip_at(good, 34 + 3 * 6);
  const struct {
    const char* names;
    std::size_t offset;
    std::uint16_t value;
    ErrorCode code;
  } cases[] = {
      {"compressor 4", 0, 4, ErrorCode::kUnsupported}, {"compressor 0", 0, 0, ErrorCode::kUnsupported},
      {"compressor 2", 0, 2, ErrorCode::kUnsupported}, {"coder 1", 2, 1, ErrorCode::kUnsupported},
      {"4 items", 32, 4, ErrorCode::kInvalidFile},     {"type 6", 34, 6, ErrorCode::kInvalidFile},
      {"31 bytes", 36, 31, ErrorCode::kInvalidFile},   {"version 5", 38, 5, ErrorCode::kUnsupported},
      {"version 1", 44, 1, ErrorCode::kUnsupported},   {"3 bytes", 48, 3, ErrorCode::kInvalidFile},
  };
  for (const auto& c : cases) {
    Bytes bad = good;
    put(bad, at + c.offset, c.value);
    std::string what;
    EXPECT_EQ(code_of([&] { read(bad); }, &what), c.code) << c.names;
    EXPECT_NE(what.find(c.names), std::string::npos) << what;
    EXPECT_NE(what.find("byte " + std::to_string(at)), std::string::npos) << what;
  }
  Bytes no_chunks = good;
  put(no_chunks, at + 12, std::uint32_t{0});
  EXPECT_EQ(code_of([&] { read(no_chunks); }), ErrorCode::kInvalidFile);
  Bytes no_record = good;
  no_record[at - 54 + 18] ^= 1;
  std::string what;
  EXPECT_EQ(code_of([&] { read(no_record); }, &what), ErrorCode::kInvalidFile);
  EXPECT_NE(what.find("laszip encoded"), std::string::npos) << what;
}

TEST(LazMalformed, TooManyExtraBytesAreRefused) {
  LasFile file = scan(6, 1, 2049);
  file.vlrs = {extra_record({{0, 255, "a", "", {}, {}, {}}})};
  std::string what;
  EXPECT_EQ(code_of([&] { read(compress(file)); }, &what), ErrorCode::kUnsupported);
  EXPECT_NE(what.find("2049 extra bytes"), std::string::npos) << what;
}

/// A file cut off anywhere gives the complete points before the cut with a warning, or an error with the reason.
TEST(LazMalformed, CutAtEveryByte) {
  constexpr std::size_t kRows = 30;
  struct Case {
    int format;
    bool pointwise, variable;
  };
  for (const Case& c :
       {Case{3, false, false}, {1, true, false}, {2, false, true}, {8, false, false}, {7, false, true}}) {
    const LasFile file = scan(c.format, kRows, 2);
    LazOptions options;
    options.chunk_rows = 7;
    options.pointwise = c.pointwise;
    options.variable = c.variable;
    const Bytes bytes = compress(file, options);
    const LasCloud whole = read(file.build());
    const TempFile on_disk("cut.laz");
    std::size_t last = 0;
    for (std::size_t length = 227; length < bytes.size(); ++length) {
      on_disk.write(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)));
      try {
        const LasCloud cloud = read(on_disk.path(), {}, 1);
        const std::size_t rows = cloud.table.positions.size();
        ASSERT_GE(rows, last) << length;
        ASSERT_LE(rows, kRows);
        if (c.pointwise && rows == kRows)
          continue;  // what is left out at the end may be zeros that count for nothing
        ASSERT_TRUE(rows == kRows || !cloud.table.warnings.empty()) << length;
        ASSERT_EQ(
            std::memcmp(cloud.table.positions.view().data, whole.table.positions.view().data, rows * 24), 0)
            << "format " << c.format << " cut at " << length << ", rows " << rows;
        last = rows;
      } catch (const Error& error) {
        ASSERT_TRUE(error.code() == ErrorCode::kInvalidFile || error.code() == ErrorCode::kUnsupported)
            << length << ": " << error.what();
        ASSERT_TRUE(last == 0 || c.variable) << length << ": " << error.what();
      }
    }
    EXPECT_GE(last, c.variable && c.format < 6 ? 0U : kRows - 10) << c.format;
  }
}

TEST(LazMalformed, HugeDeclaredCountsCostNothing) {
  for (const int format : {1, 6}) {
    for (const bool pointwise : {false, true}) {
      if (pointwise && format >= 6) continue;
      LazOptions options;
      options.pointwise = pointwise;
      Bytes bytes = compress(scan(format, 500), options);
      put(bytes, 247, ~std::uint64_t{0});
      put(bytes, laszip_at(bytes, 34 + (format == 1 ? 2 : 1) * 6) + 12, 0xFFFFFFFEU);  // rows a chunk
      reset_bulk_bytes_peak();
      const std::uint64_t before = bulk_bytes_peak();
      try {
        const std::size_t rows = read(bytes).table.positions.size();
        EXPECT_GE(rows, 500U);
        EXPECT_LE(rows,
                  format < 6 ? 503U : 500U);  // a stream does not say where it ends, and closes with zeros
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidFile) << error.what();
      }
      EXPECT_LT(bulk_bytes_peak() - before, std::uint64_t{64} << 20);
    }
  }
}

TEST(LazMalformed, LayersThatDoNotFitTheirChunkAreRefused) {
  const Bytes good = compress(scan(6, 500));
  std::uint32_t points_at;
  std::memcpy(&points_at, good.data() + 96, 4);
  const std::size_t counts = points_at + 8 + 30;
  std::string what;
  Bytes rows = good;
  put(rows, counts, std::uint32_t{499});
  EXPECT_EQ(code_of([&] { read(rows); }, &what), ErrorCode::kInvalidFile);
  EXPECT_NE(what.find("holds 499 points"), std::string::npos) << what;
  Bytes size = good;
  put(size, counts + 4 + 4 * 8, std::uint32_t{0xFFFFFFFF});
  EXPECT_EQ(code_of([&] { read(size); }, &what), ErrorCode::kInvalidFile);
  EXPECT_NE(what.find("layers end at byte"), std::string::npos) << what;
  Bytes shortened = good;
  put(shortened, counts + 4, std::uint32_t{40});
  EXPECT_EQ(code_of([&] { read(shortened); }, &what), ErrorCode::kInvalidFile);
  EXPECT_NE(what.find("layer 1 ends"), std::string::npos) << what;
}

TEST(LazMalformed, ATableThatDoesNotEndWhereItStartsIsNotBelieved) {
  for (const int format : {2, 7}) {
    const LasFile file = scan(format, 3000);
    LazOptions options;
    options.chunk_rows = 500;
    options.last_chunk_lie = 10;
    const LasCloud cloud = read(compress(file, options));
    expect_same(cloud.table, read(file.build()).table, std::to_string(format));
    EXPECT_NE(joined(cloud.table.warnings).find("not where the table starts"), std::string::npos);
  }
}

TEST(LazMalformed, ADamagedTableIsReplacedByTheChunksThemselves) {
  for (const int format : {2, 7}) {
    const LasFile file = scan(format, 3000);
    LazOptions options;
    options.chunk_rows = 500;
    Bytes bytes = compress(file, options);
    for (std::size_t i = bytes.size() - 12; i < bytes.size(); ++i) bytes[i] ^= 0xFF;
    const LasCloud cloud = read(bytes);
    expect_same(cloud.table, read(file.build()).table, std::to_string(format));
    EXPECT_NE(joined(cloud.table.warnings).find("chunk table cannot be used"), std::string::npos);
  }
}

}  // namespace
}  // namespace pc::io
