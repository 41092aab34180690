#include "ops/cloud/channel_scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/random.h"

namespace pc {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

template <class T>
AnyColumn column_of(const std::vector<T>& values) {
  Column<T> column(values.size());
  std::copy(values.begin(), values.end(), column.view().begin());
  return AnyColumn(std::move(column));
}

std::vector<std::uint16_t> to_vector(const Column<std::uint16_t>& column) {
  return {column.view().begin(), column.view().end()};
}

using U16 = std::vector<std::uint16_t>;

TEST(ScaleIntensity, MapsTheFiniteRange) {
  JobControl control;
  OpContext ctx(control);
  const IntensityScale db = scale_intensity(
      column_of<float>({-30, -20, -10, static_cast<float>(kNaN), static_cast<float>(kInf)}), {}, ctx);
  EXPECT_EQ(to_vector(db.intensity), (U16{0, 32768, 65535, 0, 0}));  // 32767.5 rounds up
  EXPECT_EQ(db.min, -30.0);
  EXPECT_EQ(db.max, -10.0);
  EXPECT_EQ(to_vector(scale_intensity(column_of<std::uint8_t>({0, 51, 255}), {}, ctx).intensity),
            (U16{0, 13107, 65535}));
  EXPECT_EQ(to_vector(scale_intensity(column_of<double>({-1.7e308, 0, 1.7e308}), {}, ctx).intensity),
            (U16{0, 32768, 65535}));
}

TEST(ScaleIntensity, ZeroSpanAndNothingFinite) {
  JobControl control;
  OpContext ctx(control);
  EXPECT_EQ(to_vector(scale_intensity(column_of<float>({7, 7}), {}, ctx).intensity), (U16{0, 0}));
  const IntensityScale none = scale_intensity(column_of<double>({kNaN, kInf}), {}, ctx);
  EXPECT_EQ(to_vector(none.intensity), (U16{0, 0}));
  EXPECT_FALSE(none.min.has_value());
  EXPECT_EQ(scale_intensity(column_of<float>({}), {}, ctx).intensity.size(), 0U);
}

TEST(ScaleIntensity, SkippedRowsDoNotCount) {
  JobControl control;
  OpContext ctx(control);
  const std::uint8_t skip[4] = {1, 0, 0, 0};
  const AnyColumn values = column_of<float>({1000, 0, 1, 2});
  EXPECT_EQ(to_vector(scale_intensity(values, {skip, 4}, ctx).intensity), (U16{0, 0, 32768, 65535}));
  EXPECT_THROW(scale_intensity(values, {skip, 3}, ctx), Error);
  EXPECT_THROW(scale_intensity(AnyColumn(DType::kRgb16, 4), {}, ctx), Error);
}

TEST(ScaleIntensity, SameForAnyThreadCount) {
  std::vector<float> values(300'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(random_unit(1, i));
  const AnyColumn column = column_of(values);
  JobControl control;
  OpContext one(control, Device::kCpu, 1), four(control, Device::kCpu, 4);
  EXPECT_EQ(to_vector(scale_intensity(column, {}, one).intensity),
            to_vector(scale_intensity(column, {}, four).intensity));
}

TEST(ScaleColors, ScalesRoundsAndClips) {
  JobControl control;
  OpContext ctx(control);
  const AnyColumn r = column_of<float>({0, 1, 0.5F}), g = column_of<float>({-1, 2, static_cast<float>(kNaN)}),
                  b = column_of<double>({0.25, kInf, -kInf});
  const Column<Rgb16> unit = scale_colors({&r, &g, &b}, ColorRange::kUnit, ctx);
  EXPECT_EQ(unit[0], (Rgb16{0, 0, 16384}));  // 16383.75
  EXPECT_EQ(unit[1], (Rgb16{65535, 65535, 65535}));
  EXPECT_EQ(unit[2], (Rgb16{32768, 0, 0}));
  const AnyColumn bytes = column_of<std::uint8_t>({0, 1, 255}), big = column_of<std::int32_t>({-5, 300, 256});
  const Column<Rgb16> byte = scale_colors({&bytes, &big, &bytes}, ColorRange::kByte, ctx);
  EXPECT_EQ(byte[1], (Rgb16{256, 65535, 256}));
  EXPECT_EQ(byte[2], (Rgb16{65280, 65535, 65280}));
  const Column<Rgb16> as_is = scale_colors({&big, &bytes, &big}, ColorRange::kUint16, ctx);
  EXPECT_EQ(as_is[0], (Rgb16{0, 0, 0}));
  EXPECT_EQ(as_is[1], (Rgb16{300, 1, 300}));
}

TEST(ScaleColors, SeesACancel) {
  JobControl control;
  OpContext ctx(control);
  const AnyColumn one = column_of<std::uint8_t>({1});
  control.cancel_requested = true;
  EXPECT_THROW(scale_colors({&one, &one, &one}, ColorRange::kByte, ctx), Error);
  const AnyColumn two = column_of<std::uint8_t>({1, 1}), short_one = column_of<std::uint8_t>({1});
  EXPECT_THROW(scale_colors({&two, &two, &short_one}, ColorRange::kByte, ctx), Error);
  EXPECT_THROW(scale_colors({&two, &two, nullptr}, ColorRange::kByte, ctx), Error);
  EXPECT_THROW(scale_intensity(one, {}, ctx), Error);
}

}  // namespace
}  // namespace pc
