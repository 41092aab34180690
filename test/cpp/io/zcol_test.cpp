#include "io/archive/zcol.h"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/deflate.h"
#include "io/column_file.h"
#include "io/record_support.h"
#include "support/cancel.h"

namespace {

using namespace pc;
using namespace pc::record_test;

constexpr DType kAllTypes[] = {DType::kU8,  DType::kI8,  DType::kU16,   DType::kI16,
                               DType::kU32, DType::kI32, DType::kU64,   DType::kI64,
                               DType::kF32, DType::kF64, DType::kVec3d, DType::kRgb16};
constexpr io::ColumnFilter kAllFilters[] = {io::ColumnFilter::kNone, io::ColumnFilter::kShuffle,
                                            io::ColumnFilter::kDeltaShuffle};

std::string text_of(Span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data), bytes.size};
}

std::string column_file(const AnyColumn& column, const io::ZcolHeader& header, int threads = 1) {
  return with_context(threads, [&](OpContext& ctx) {
    return io::zcol_header_text(header, false) +
           text_of(io::zcol_blocks(column, header, 0, header.blocks(), ctx).view());
  });
}

std::uint32_t crc_of(const std::string& bytes) {
  return crc32(0, {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
}

/// The file behind `gap` bytes of an archive, with something after it.
struct Archived {
  explicit Archived(const std::string& file, std::size_t gap = 13)
      : scratch(std::string(gap, 'x') + file + "more"),
        member{scratch.path(), gap, file.size(), crc_of(file)} {}
  ScratchFile scratch;
  io::MemberRange member;
};

AnyColumn read(const std::string& file, std::optional<std::uint64_t> rows = std::nullopt, int threads = 1) {
  const Archived archived(file);
  return with_context(threads, [&](OpContext& ctx) { return io::read_zcol(archived.member, rows, ctx); });
}

Error refusal(const std::string& file, std::optional<std::uint64_t> rows = std::nullopt) {
  const Error error = error_of([&] { read(file, rows); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidFile) << error.what();
  return error;
}

AnyColumn noise(DType dtype, std::size_t rows, unsigned seed) {
  std::mt19937 random(seed);
  AnyColumn column(dtype, rows);
  for (std::size_t i = 0; i < column.bytes(); ++i) column.data()[i] = static_cast<std::byte>(random());
  return column;
}

void expect_same(const AnyColumn& a, const AnyColumn& b) {
  ASSERT_EQ(a.dtype(), b.dtype());
  ASSERT_EQ(a.size(), b.size());
  if (a.bytes() > 0) {
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.bytes()), 0);
  }
}

template <class T>
AnyColumn column_of(const std::vector<T>& values) {
  Column<T> column(values.size());
  std::copy(values.begin(), values.end(), column.view().begin());
  return column;
}

TEST(Zcol, EveryTypeAndFilterComesBackBitForBit) {
  unsigned seed = 1;
  for (const DType dtype : kAllTypes) {
    for (const auto filter : kAllFilters) {
      for (const std::uint64_t rows : {0, 1, 16, 17, 300}) {
        for (const std::uint64_t block_rows : {7, 16, 5000}) {
          const AnyColumn column = noise(dtype, rows, ++seed);
          const std::string file = column_file(column, {dtype, rows, filter, block_rows});
          SCOPED_TRACE(std::string(dtype_name(dtype)) + " " + io::filter_name(filter) + " " +
                       std::to_string(rows) + " rows in blocks of " + std::to_string(block_rows));
          expect_same(read(file, rows, 1 + static_cast<int>(seed % 3)), column);
        }
      }
    }
  }
}

TEST(Zcol, ValuesThatAreEasilyLost) {
  const double quiet = std::bit_cast<double>(0x7ff8dead'beef0001ULL);
  const double signaling = std::bit_cast<double>(0xfff00000'00000001ULL);
  const std::vector<double> doubles = {
      -0.0, 0.0, quiet, signaling, std::numeric_limits<double>::infinity(), 5e-324, -1e7, 1e7 + 1e-9};
  const std::vector<std::int64_t> wide = {std::numeric_limits<std::int64_t>::max(),
                                          std::numeric_limits<std::int64_t>::min(), 0, -1, 1};
  const std::vector<std::uint16_t> narrow = {65535, 0, 65535, 1};
  for (const auto filter : kAllFilters) {
    expect_same(read(column_file(column_of(doubles), {DType::kF64, 8, filter, 3})), column_of(doubles));
    expect_same(read(column_file(column_of(wide), {DType::kI64, 5, filter, 2})), column_of(wide));
    expect_same(read(column_file(column_of(narrow), {DType::kU16, 4, filter, 4})), column_of(narrow));
  }
}

TEST(Zcol, FiltersByTheBook) {
  // Two values of two bytes: 0x0102, 0x0305; difference 0x0203.
  const AnyColumn column = column_of<std::uint16_t>({0x0102, 0x0305});
  const struct {
    io::ColumnFilter filter;
    std::string bytes;
  } cases[] = {{io::ColumnFilter::kNone, std::string("\x02\x01\x05\x03", 4)},
               {io::ColumnFilter::kShuffle, std::string("\x02\x05\x01\x03", 4)},
               {io::ColumnFilter::kDeltaShuffle, std::string("\x02\x03\x01\x02", 4)}};
  for (const auto& c : cases) {
    const std::string file = column_file(column, {DType::kU16, 2, c.filter, 2});
    const std::size_t start = io::kZcolPrefix + static_cast<unsigned char>(file[6]) + 4;
    std::string raw(4, '\0');
    Inflater inflater;
    ASSERT_TRUE(
        inflater.inflate({reinterpret_cast<const std::byte*>(file.data()) + start, file.size() - start},
                         {reinterpret_cast<std::byte*>(raw.data()), raw.size()}));
    EXPECT_EQ(raw, c.bytes) << io::filter_name(c.filter);
  }
}

TEST(Zcol, TriplesAreDifferencedByRow) {
  Column<Vec3d> rows(1000);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto step = static_cast<double>(i);
    rows[i] = {1e6 + step, 2e6 - step, step};
  }
  const AnyColumn column(std::move(rows));
  const auto size = [&](io::ColumnFilter filter) {
    return column_file(column, {DType::kVec3d, 1000, filter, 1000}).size();
  };
  EXPECT_LT(size(io::ColumnFilter::kDeltaShuffle), size(io::ColumnFilter::kShuffle) / 2);
}

TEST(Zcol, BytesDoNotDependOnThreads) {
  const AnyColumn column = noise(DType::kF32, 10'000, 5);
  const io::ZcolHeader header{DType::kF32, 10'000, io::ColumnFilter::kDeltaShuffle, 777};
  EXPECT_EQ(column_file(column, header, 1), column_file(column, header, 3));
}

TEST(Zcol, ChoosesTheSmallestFilterOfASampleFromTheWholeColumn) {
  const auto chosen = [](const AnyColumn& column) {
    return with_context(2, [&](OpContext& ctx) { return io::choose_filter(column, ctx).filter; });
  };
  std::vector<double> gps(300'000);
  for (std::size_t i = 0; i < gps.size(); ++i) gps[i] = 3.5e8 + 1e-5 * static_cast<double>(i);
  EXPECT_EQ(chosen(column_of(gps)), io::ColumnFilter::kDeltaShuffle);
  std::vector<float> rough(300'000);
  std::mt19937 random(3);
  for (auto& value : rough) value = 100.0F + std::ldexp(static_cast<float>(random() & 0xffff), -16);
  EXPECT_EQ(chosen(column_of(rough)), io::ColumnFilter::kShuffle);
  EXPECT_EQ(chosen(column_of(std::vector<std::uint8_t>(1000, 3))), io::ColumnFilter::kNone);
  EXPECT_EQ(chosen(AnyColumn(DType::kF64, 0)), io::ColumnFilter::kNone);
  // The first half is constant and says nothing.
  std::vector<double> late(300'000, 1.0);
  for (std::size_t i = 150'000; i < late.size(); ++i) late[i] = 3.5e8 + 1e-5 * static_cast<double>(i);
  EXPECT_EQ(chosen(column_of(late)), io::ColumnFilter::kDeltaShuffle);
}

TEST(Zcol, EveryByteOfASmallFileCounts) {
  const AnyColumn column = noise(DType::kI32, 40, 9);
  const std::string file = column_file(column, {DType::kI32, 40, io::ColumnFilter::kDeltaShuffle, 16});
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (const int bit : {0x01, 0x80}) {
      std::string damaged = file;
      damaged[at] = static_cast<char>(damaged[at] ^ bit);
      const ScratchFile scratch(damaged);
      const io::MemberRange member{scratch.path(), 0, damaged.size(), crc_of(file)};
      const Error error = error_of(
          [&] { with_context(1, [&](OpContext& ctx) { return io::read_zcol(member, std::nullopt, ctx); }); });
      EXPECT_EQ(error.code(), ErrorCode::kInvalidFile) << at << ": " << error.what();
    }
  }
}

TEST(Zcol, EveryCutIsRefused) {
  const std::string file =
      column_file(noise(DType::kU16, 40, 9), {DType::kU16, 40, io::ColumnFilter::kShuffle, 16});
  for (std::size_t size = 0; size < file.size(); ++size) refusal(file.substr(0, size));
  EXPECT_MESSAGE(refusal(file + "x"), "bytes behind its last block");
}

std::string with_header(const std::string& json, const std::string& rest = "") {
  std::string text("ZCOL\x01\n", 6);
  for (int shift = 0; shift < 32; shift += 8) text += static_cast<char>(json.size() >> shift);
  return text + json + rest;
}

TEST(Zcol, HostileHeaders) {
  const auto header = [](const std::string& dtype, const std::string& shape, const std::string& filter,
                         const std::string& block_rows) {
    return with_header("{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"filter\":\"" + filter +
                       "\",\"block_rows\":" + block_rows + "}");
  };
  EXPECT_EQ(read(header("<f8", "[0]", "none", "5")).size(), 0U);
  EXPECT_EQ(read(header("|b1", "[0]", "none", "5")).dtype(), DType::kU8);
  EXPECT_MESSAGE(refusal(header("<f8", "[0]", "none", "0")), "block_rows");
  EXPECT_MESSAGE(refusal(header("<f8", "[-1]", "none", "1")), "shape");
  EXPECT_MESSAGE(refusal(header("<f8", "[1.5]", "none", "1")), "shape");
  EXPECT_MESSAGE(refusal(header("<f8", "[1e300]", "none", "1")), "shape");
  EXPECT_MESSAGE(refusal(header("<f8", "[]", "none", "1")), "value");
  EXPECT_MESSAGE(refusal(header("<f8", "[0,3,1]", "none", "1")), "axes");
  EXPECT_MESSAGE(refusal(header("<f4", "[0,3]", "none", "1")), "several values");
  EXPECT_MESSAGE(refusal(header("<f8", "[0,2]", "none", "1")), "several values");
  EXPECT_MESSAGE(refusal(header("|O", "[0]", "none", "1")), "type");
  EXPECT_MESSAGE(refusal(header(">f8", "[0]", "none", "1")), "type");
  EXPECT_MESSAGE(refusal(header("<f8", "[0]", "zip", "1")), "filter");
  EXPECT_MESSAGE(refusal(header("<f8", "[9007199254740992]", "none", "1")), "too short");
  EXPECT_MESSAGE(refusal(header("<f8", "[1]", "none", "1")), "too short");
  EXPECT_MESSAGE(refusal(with_header("{}")), "string");
  EXPECT_MESSAGE(refusal(with_header(R"({"dtype":"<f8","dtype":"<f8"})")), "twice");
  EXPECT_MESSAGE(refusal(with_header(R"({"dtype":"<f8","more":1})")), "unknown");
  EXPECT_MESSAGE(refusal(with_header(R"({"dtype":"<f8","shape":[0],"filter":"none"})")), "missing");
  EXPECT_MESSAGE(refusal(with_header(std::string(5000, ' '))), "length of its header");
  EXPECT_MESSAGE(refusal(with_header(R"({"dtype":"<f8","shape":[0],"filter":"none","block_rows":1}])")),
                 "behind");
  // A large block that its bytes cannot hold, with bytes enough for the rows.
  EXPECT_MESSAGE(refusal(header("|u1", "[100000000]", "none", "100000000") + std::string(100'000, '\0')),
                 "64 MiB");
  EXPECT_MESSAGE(
      refusal(header("<f8", "[3]", "none", "3") + std::string("\0\0\0\0", 4) + std::string(40, 'x')),
      "too short");
}

TEST(Zcol, RefusesAnotherNumberOfRowsAndAnotherChecksum) {
  const std::string file =
      column_file(noise(DType::kU16, 40, 9), {DType::kU16, 40, io::ColumnFilter::kNone, 16});
  EXPECT_MESSAGE(refusal(file, 41), "40 rows, not 41");
  Archived archived(file);
  archived.member.crc32 ^= 1;
  const auto check = [&](auto op) {
    const Error error = error_of([&] { with_context(1, [&](OpContext& ctx) { return op(ctx); }); });
    EXPECT_MESSAGE(error, "CRC-32");
  };
  check([&](OpContext& ctx) { return io::read_zcol(archived.member, 40, ctx).size(); });
  check([&](OpContext& ctx) { return io::verify_zcol(archived.member, 40, ctx); });
}

TEST(Zcol, UnpacksIntoAColumnFileThatIsTheColumn) {
  struct Case {
    DType dtype;
    std::size_t rows, block_rows;
  };
  // Blocks smaller and larger than those of the file's checksum (1 MiB), and those that end inside of them.
  for (const auto& [dtype, rows, block_rows] :
       {Case{DType::kF64, 0, 100'000}, Case{DType::kF64, 1, 100'000}, Case{DType::kF64, 300'001, 100'000},
        Case{DType::kF64, 524'288, 131'072}, Case{DType::kVec3d, 200'001, 49'999},
        Case{DType::kRgb16, 400'003, 349'524}, Case{DType::kU8, 3'000'000, 7777}}) {
    const AnyColumn column = noise(dtype, rows, 4);
    const Archived archived(column_file(column, {dtype, rows, io::ColumnFilter::kShuffle, block_rows}));
    for (const int threads : {1, 3}) {
      const ScratchFile target, reference;
      with_context(threads, [&](OpContext& ctx) {
        EXPECT_EQ(io::unpack_zcol(archived.member, rows, target.path(), ctx), rows);
        io::write_column_file(column, reference.path(), ctx);
        EXPECT_TRUE(io::verify_column_file(target.path(), ctx));
        return 0;
      });
      EXPECT_EQ(target.contents(), reference.contents()) << rows << " by " << block_rows;
    }
  }
}

TEST(Zcol, AColumnFileThatLacksBytesIsNotSealed) {
  const AnyColumn column = noise(DType::kF64, 300'000, 4);
  const Span<const std::byte> bytes{column.data(), column.bytes()};
  const ScratchFile target;
  std::remove(target.path().c_str());
  io::ColumnFileWriter file(target.path(), DType::kF64, 300'000);
  file.write(8, {bytes.data + 8, bytes.size - 8});
  EXPECT_EQ(error_of([&] { file.seal(); }).code(), ErrorCode::kInternal);
  EXPECT_EQ(error_of([&] { file.write(8, bytes); }).code(), ErrorCode::kInvalidArgument);
  file.write(0, {bytes.data, 8});
  file.seal();
  with_context(1, [&](OpContext& ctx) {
    EXPECT_TRUE(io::verify_column_file(target.path(), ctx));
    return 0;
  });
}

TEST(Zcol, CancelEndsWithinABlock) {
  const AnyColumn column = noise(DType::kF64, 8 << 20, 4);
  const auto header = io::zcol_header_of(column, io::ColumnFilter::kDeltaShuffle);
  EXPECT_EQ(header.block_rows, std::uint64_t{1} << 20);
  test::expect_cancel_after(std::chrono::milliseconds(30), [&](OpContext& ctx) {
    for (;;) io::zcol_blocks(column, header, 0, header.blocks(), ctx);
  });
}

}  // namespace
