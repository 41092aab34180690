#include "core/dtype_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace pc {
namespace {

template <class To, class From>
std::optional<To> cast(From value) {
  To out{};
  if (!exact_cast(value, out)) return std::nullopt;
  return out;
}

TEST(ExactCast, IntegersFitByRange) {
  EXPECT_EQ((cast<std::uint8_t, int>(255)), 255);
  EXPECT_FALSE((cast<std::uint8_t, int>(256)));
  EXPECT_FALSE((cast<std::uint8_t, int>(-1)));
  EXPECT_FALSE((cast<std::int64_t, std::uint64_t>(std::uint64_t{1} << 63)));
  EXPECT_EQ((cast<std::uint64_t, std::int64_t>(5)), 5U);
  EXPECT_EQ((cast<std::int8_t, std::int64_t>(-128)), -128);
}

TEST(ExactCast, IntegersBecomeFloatsOnlyWithoutRounding) {
  EXPECT_EQ((cast<float, std::int32_t>(16777216)), 16777216.0F);
  EXPECT_FALSE((cast<float, std::int32_t>(16777217)));
  EXPECT_EQ((cast<float, std::int32_t>(16777218)), 16777218.0F);
  EXPECT_EQ((cast<float, std::int32_t>(std::numeric_limits<std::int32_t>::min())), -2147483648.0F);
  EXPECT_FALSE((cast<double, std::uint64_t>(std::numeric_limits<std::uint64_t>::max())));
  EXPECT_EQ((cast<double, std::int64_t>(std::numeric_limits<std::int64_t>::min())), -0x1p63);
  EXPECT_FALSE((cast<double, std::int64_t>(std::numeric_limits<std::int64_t>::max())));
  EXPECT_EQ((cast<double, std::uint64_t>(0)), 0.0);
}

TEST(ExactCast, FloatsBecomeIntegersOnlyWhenWholeAndInRange) {
  EXPECT_EQ((cast<std::uint8_t, double>(255.0)), 255);
  EXPECT_FALSE((cast<std::uint8_t, double>(256.0)));
  EXPECT_FALSE((cast<std::uint8_t, double>(0.5)));
  EXPECT_FALSE((cast<std::uint8_t, double>(-1.0)));
  EXPECT_EQ((cast<std::uint8_t, double>(-0.0)), 0);
  EXPECT_FALSE((cast<std::int32_t, double>(std::nan(""))));
  EXPECT_FALSE((cast<std::int32_t, float>(HUGE_VALF)));
  EXPECT_FALSE((cast<std::int32_t, float>(2147483648.0F)));
  EXPECT_EQ((cast<std::int32_t, float>(-2147483648.0F)), std::numeric_limits<std::int32_t>::min());
  EXPECT_FALSE((cast<std::uint64_t, double>(0x1p64)));
  EXPECT_FALSE((cast<std::int64_t, double>(0x1p63)));
}

TEST(ExactCast, FloatsNarrowOnlyWithoutRounding) {
  EXPECT_EQ((cast<float, double>(0.5)), 0.5F);
  EXPECT_FALSE((cast<float, double>(0.1)));
  EXPECT_FALSE((cast<float, double>(1e300)));
  EXPECT_FALSE((cast<float, double>(1e-60)));
  EXPECT_EQ((cast<float, double>(-HUGE_VAL)), -HUGE_VALF);
  EXPECT_TRUE(std::isnan(*cast<float, double>(std::nan(""))));
  EXPECT_TRUE(std::signbit(*cast<float, double>(-0.0)));
  EXPECT_EQ((cast<double, float>(0.1F)), static_cast<double>(0.1F));
}

TEST(ExactCast, TheSameTypeKeepsEveryBit) {
  const std::uint64_t payload = 0xfff4000000001234ULL;
  double in = 0, out = 0;
  std::memcpy(&in, &payload, 8);
  ASSERT_TRUE(exact_cast(in, out));
  EXPECT_EQ(std::memcmp(&in, &out, 8), 0);
}

TEST(CommonDtype, HoldsBothAndIsNarrow) {
  EXPECT_EQ(common_dtype(DType::kU8, DType::kU8), DType::kU8);
  EXPECT_EQ(common_dtype(DType::kU8, DType::kI8), DType::kI16);
  EXPECT_EQ(common_dtype(DType::kU16, DType::kI8), DType::kI32);
  EXPECT_EQ(common_dtype(DType::kU32, DType::kI32), DType::kI64);
  EXPECT_EQ(common_dtype(DType::kU64, DType::kI8), std::nullopt);
  EXPECT_EQ(common_dtype(DType::kU16, DType::kF32), DType::kF32);
  EXPECT_EQ(common_dtype(DType::kU32, DType::kF32), DType::kF64);
  EXPECT_EQ(common_dtype(DType::kF32, DType::kF64), DType::kF64);
  EXPECT_EQ(common_dtype(DType::kI64, DType::kF64), std::nullopt);
  EXPECT_EQ(common_dtype(DType::kVec3d, DType::kVec3d), std::nullopt);
  EXPECT_EQ(common_dtype(DType::kRgb16, DType::kU8), std::nullopt);
}

TEST(DtypeHolding, KeepsTheTypeOrWidensIt) {
  EXPECT_EQ(dtype_holding(DType::kU8, 255), DType::kU8);
  EXPECT_EQ(dtype_holding(DType::kU8, 256), DType::kU16);
  EXPECT_EQ(dtype_holding(DType::kU8, -1), DType::kI16);
  EXPECT_EQ(dtype_holding(DType::kU8, 70000), DType::kU32);
  EXPECT_EQ(dtype_holding(DType::kI16, 40000), DType::kI32);
  EXPECT_EQ(dtype_holding(DType::kU32, -1), DType::kI64);
  EXPECT_EQ(dtype_holding(DType::kU32, 0x1p40), DType::kU64);
  EXPECT_EQ(dtype_holding(DType::kU64, -1), std::nullopt);
  EXPECT_EQ(dtype_holding(DType::kF32, 16777216), DType::kF32);
  EXPECT_EQ(dtype_holding(DType::kF32, 16777217), DType::kF64);
  EXPECT_EQ(dtype_holding(DType::kU8, 0.5), DType::kF32);
  EXPECT_EQ(dtype_holding(DType::kVec3d, 0), std::nullopt);
}

TEST(RowIndexDtype, IsWideFrom2To32RowsOn) {
  EXPECT_EQ(row_index_dtype(0), DType::kU32);
  EXPECT_EQ(row_index_dtype(0xffffffffULL), DType::kU32);
  EXPECT_EQ(row_index_dtype(0x100000000ULL), DType::kU64);
  EXPECT_EQ(row_index_dtype(std::numeric_limits<std::uint64_t>::max()), DType::kU64);
}

TEST(RowConverter, StopsAtTheFirstValueThatDoesNotFit) {
  const std::int16_t from[] = {1, 300, 3, -4};
  std::uint8_t to[4] = {};
  const auto* const in = reinterpret_cast<const std::byte*>(from);
  auto* const out = reinterpret_cast<std::byte*>(to);
  const std::uint32_t rows[] = {2, 0, 3};
  EXPECT_EQ(row_converter(DType::kI16, DType::kU8)(in, nullptr, 4, out), 1U);
  EXPECT_EQ(row_converter(DType::kI16, DType::kU8)(in, rows, 3, out), 2U);
  EXPECT_EQ(to[0], 3);
  EXPECT_EQ(to[1], 1);
  EXPECT_THROW(row_converter(DType::kVec3d, DType::kU8), Error);
  EXPECT_THROW(row_converter(DType::kU8, DType::kRgb16), Error);
}

}  // namespace
}  // namespace pc
