#include "ops/cloud/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pc {
namespace {

template <class T>
AnyColumn column(std::initializer_list<T> values) {
  Column<T> out(values.size());
  std::size_t i = 0;
  for (const T& value : values) out[i++] = value;
  return out;
}

TEST(InterleaveTriple, ScalesThenShiftsInDouble) {
  JobControl control;
  OpContext ctx(control);
  const auto x = column<double>({500000.1234, -1});
  const auto y = column<float>({2.5F, 3});
  const auto z = column<std::int32_t>({-7, 8});
  const auto out = interleave_triple(x, y, z, 0.3048, {100, 0, 1}, ctx);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].x, 500000.1234 * 0.3048 - 100);
  EXPECT_EQ(out[0].y, 2.5 * 0.3048);
  EXPECT_EQ(out[1].z, 8 * 0.3048 - 1);
}

TEST(InterleaveTriple, RefusesDifferentLengthsAndTriples) {
  JobControl control;
  OpContext ctx(control);
  const auto two = column<double>({1, 2}), one = column<double>({1});
  EXPECT_THROW(interleave_triple(two, one, two, 1, {0, 0, 0}, ctx), Error);
  const auto triples = column<Vec3d>({{1, 2, 3}, {4, 5, 6}});
  EXPECT_THROW(interleave_triple(triples, two, two, 1, {0, 0, 0}, ctx), Error);
}

TEST(FloatCopy, ShiftsBeforeRoundingToFloat) {
  JobControl control;
  OpContext ctx(control);
  // 5e6 + 0.25 has no float32 neighbour closer than 0.5 m: the shift must come first.
  const auto points = column<Vec3d>({{5000000.25, 0, -1}});
  const auto out = float_copy(points, {{-5000000, 0, 0}, 1, false}, ctx);
  EXPECT_EQ(out[0], 0.25F);
  EXPECT_EQ(out[2], -1.0F);
}

TEST(FloatCopy, ChannelsBecomeUnitRange) {
  JobControl control;
  OpContext ctx(control);
  const auto colors = float_copy(column<Rgb16>({{0, 65535, 13107}}), {{9, 9, 9}, 65535, false}, ctx);
  EXPECT_EQ(colors[0], 0.0F);
  EXPECT_EQ(colors[1], 1.0F);
  EXPECT_FLOAT_EQ(colors[2], 0.2F);
  const auto intensity = float_copy(column<std::uint16_t>({65535}), {{0, 0, 0}, 65535, false}, ctx);
  EXPECT_EQ(intensity[0], 1.0F);
  const auto clamped = float_copy(column<double>({-0.5, 0.1, 1.5, NAN}), {{0, 0, 0}, 1, true}, ctx);
  EXPECT_EQ((std::vector<float>{clamped.view().begin(), clamped.view().end()}),
            (std::vector<float>{0, 0.1F, 1, 0}));
  EXPECT_EQ(float_copy(column<double>({}), {{0, 0, 0}, 1, false}, ctx).size(), 0u);
  EXPECT_THROW(float_copy(column<double>({}), {{0, 0, 0}, 0, false}, ctx), Error);
}

TEST(DoubleCopy, KeepsValuesAndNaN) {
  JobControl control;
  OpContext ctx(control);
  const auto out = double_copy(column<float>({0.1F, std::numeric_limits<float>::quiet_NaN()}), ctx);
  EXPECT_EQ(out[0], static_cast<double>(0.1F));
  EXPECT_TRUE(std::isnan(out[1]));
  EXPECT_THROW(double_copy(column<Rgb16>({{1, 2, 3}}), ctx), Error);
}

TEST(NarrowestIntegers, TakesTheFirstTypeThatHoldsEveryValue) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 3);
  const auto type_of = [&](const AnyColumn& from) -> std::string {
    const auto narrow = narrowest_integers(from, ctx);
    return narrow ? dtype_name(narrow->dtype()) : "none";
  };
  EXPECT_EQ(type_of(column<float>({0, 255})), "u8");
  EXPECT_EQ(type_of(column<float>({-1, 127})), "i8");
  EXPECT_EQ(type_of(column<float>({0, 256})), "u16");
  EXPECT_EQ(type_of(column<float>({-129, 5})), "i16");
  EXPECT_EQ(type_of(column<float>({70'000})), "none");  // four bytes are no less
  EXPECT_EQ(type_of(column<double>({70'000})), "u32");
  EXPECT_EQ(type_of(column<double>({-70'000})), "i32");
  EXPECT_EQ(type_of(column<float>({0.5F})), "none");
  EXPECT_EQ(type_of(column<float>({std::numeric_limits<float>::quiet_NaN()})), "none");
  EXPECT_EQ(type_of(column<double>({1e300})), "none");
  EXPECT_EQ(type_of(column<std::uint8_t>({1})), "none");
  Column<float> late(200'000);
  late[199'999] = 300;
  const auto narrow = narrowest_integers(AnyColumn(std::move(late)), ctx);
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->as<std::uint16_t>()[199'999], 300);
  EXPECT_THROW(narrowest_integers(column<Rgb16>({{1, 2, 3}}), ctx), Error);
}

TEST(MaxChannel, LooksAtEveryChannelOfEveryRow) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 3);
  Column<Rgb16> colors(200'000);
  EXPECT_EQ(max_channel(colors.view(), ctx), 0);
  colors[199'999].b = 7;
  EXPECT_EQ(max_channel(colors.view(), ctx), 7);
  EXPECT_EQ(max_channel({}, ctx), 0);
}

TEST(FloatCopy, CancelLeavesNothingBehind) {
  const auto before = bulk_bytes_in_use();
  JobControl control;
  control.cancel_requested = true;
  OpContext ctx(control);
  EXPECT_THROW(float_copy(AnyColumn(DType::kF64, 1000), {{0, 0, 0}, 1, false}, ctx), Error);
  EXPECT_EQ(bulk_bytes_in_use(), before);
}

}  // namespace
}  // namespace pc
