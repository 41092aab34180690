#include "core/column.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/op_context.h"
#include "io/column_file.h"

namespace pc {
namespace {

std::string temporary(const char* name) {
  return (std::filesystem::temp_directory_path() /
          (std::string("pc_column_test_") + std::to_string(::getpid()) + name))
      .string();
}

TEST(PageBlock, GivesItsPagesBackAndCountsThem) {
  const auto before = bulk_bytes_in_use();
  {
    Column<double> column(1000);
    EXPECT_GE(bulk_bytes_in_use(), before + 8000);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(column.view().data) % 64, 0u);
    EXPECT_EQ(column[999], 0.0);
    Column<double> moved = std::move(column);
    EXPECT_EQ(moved.size(), 1000u);
  }
  EXPECT_EQ(bulk_bytes_in_use(), before);
}

TEST(PageBlock, ImpossibleSizesAreAnErrorNotACrash) {
  for (const std::size_t size :
       {std::numeric_limits<std::size_t>::max(), std::size_t{1} << 60, std::size_t{1} << 45}) {
    try {
      Column<Vec3d> column(size);
      FAIL() << size;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
    }
  }
}

TEST(BulkVector, GrowsKeepsAndZeroes) {
  BulkVector<std::uint32_t> values;
  for (std::uint32_t i = 0; i < 100'000; ++i) values.push_back(i);
  for (std::uint32_t i = 0; i < 100'000; ++i) ASSERT_EQ(values[i], i);
  values.resize(10);
  values.resize(20);
  EXPECT_EQ(values[9], 9u);
  EXPECT_EQ(values[10], 0u);  // grown elements are zero, also where old ones were
}

TEST(AnyColumn, WrongTypeIsRefused) {
  const AnyColumn column(DType::kU16, 3);
  EXPECT_EQ(column.as<std::uint16_t>().size, 3u);
  EXPECT_THROW(column.as<double>(), Error);
  EXPECT_THROW(parse_dtype("u128"), Error);
  for (const auto dtype : {DType::kU8, DType::kVec3d, DType::kRgb16})
    EXPECT_EQ(parse_dtype(dtype_name(dtype)), dtype);
}

TEST(ColumnFile, RoundTripsEveryTypeAndNoticesEveryFlippedByte) {
  JobControl control;
  OpContext ctx(control);
  const auto path = temporary(".col");
  for (const auto dtype : {DType::kU8, DType::kI16, DType::kF32, DType::kU64, DType::kVec3d, DType::kRgb16}) {
    AnyColumn column(dtype, 37);
    for (std::size_t i = 0; i < column.bytes(); ++i) column.data()[i] = static_cast<std::byte>(i * 31 + 7);
    io::write_column_file(column, path, ctx);
    const AnyColumn mapped = io::map_column_file(path);
    EXPECT_TRUE(mapped.file_backed());
    ASSERT_EQ(mapped.bytes(), column.bytes());
    EXPECT_EQ(std::memcmp(mapped.data(), column.data(), column.bytes()), 0);
    EXPECT_TRUE(io::verify_column_file(path, ctx));
    EXPECT_EQ(io::stored_checksum(path), io::column_checksum(column, ctx));
  }
  const auto size = std::filesystem::file_size(path);
  for (std::size_t at = 0; at < size; ++at) {
    if (at >= 40 && at < 64) continue;  // padding
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const auto byte = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 0x10));
    file.close();
    bool noticed = false;
    try {
      noticed = !io::verify_column_file(path, ctx);
    } catch (const Error& error) {
      noticed = error.code() == ErrorCode::kInvalidFile || error.code() == ErrorCode::kInvalidArgument ||
                error.code() == ErrorCode::kOutOfMemory;
    }
    EXPECT_TRUE(noticed) << "byte " << at;
    std::fstream repair(path, std::ios::in | std::ios::out | std::ios::binary);
    repair.seekp(static_cast<std::streamoff>(at));
    repair.put(byte);
  }
  for (std::size_t length = 0; length < size; length += 5) {
    std::filesystem::resize_file(path, length);
    EXPECT_THROW(io::map_column_file(path), Error) << length;
    io::write_column_file(AnyColumn(DType::kRgb16, 37), path, ctx);
  }
  std::remove(path.c_str());
  EXPECT_THROW(io::map_column_file(path), Error);
}

TEST(ColumnFile, ChecksumInMemoryIsThatOfTheFile) {
  JobControl control;
  OpContext ctx(control);
  const auto path = temporary("_sum.col");
  for (const std::size_t size : {0, 31, 1 << 20, (20 << 20) + 5}) {
    AnyColumn column(DType::kU8, size);
    for (std::size_t i = 0; i < size; ++i) column.data()[i] = static_cast<std::byte>(i * 31 + (i >> 13));
    io::write_column_file(column, path, ctx);
    const std::uint64_t sum = io::column_checksum(column, ctx);
    EXPECT_EQ(io::stored_checksum(path), sum) << size;
    EXPECT_EQ(io::column_checksum(io::map_column_file(path), ctx), sum) << size;
    if (size == 0) continue;
    column.data()[size / 2] ^= std::byte{1};
    EXPECT_NE(io::column_checksum(column, ctx), sum) << size;
  }
  std::remove(path.c_str());
  EXPECT_THROW(io::stored_checksum(path), Error);
}

TEST(ColumnFile, EmptyColumn) {
  JobControl control;
  OpContext ctx(control);
  const auto path = temporary("_empty.col");
  io::write_column_file(AnyColumn(DType::kF64, 0), path, ctx);
  EXPECT_EQ(io::map_column_file(path).size(), 0u);
  EXPECT_TRUE(io::verify_column_file(path, ctx));
  std::remove(path.c_str());
}

}  // namespace
}  // namespace pc
