#include "ops/cloud/merge_frames.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "core/dtype_fit.h"
#include "core/random.h"
#include "support/cancel.h"
#include "support/columns.h"

namespace pc::test {
namespace {

using Mask = std::vector<std::uint8_t>;
constexpr Vec3d kZero{0, 0, 0};

class MergeFrames : public testing::TestWithParam<int> {
 protected:
  AnyColumn merge(const std::vector<MergePart>& parts, DType dtype, double fill = 0) {
    return merge_frames(parts, {dtype, fill}, ctx);
  }
  JobControl control;
  OpContext ctx{control, Device::kCpu, GetParam()};
};

TEST_P(MergeFrames, JoinsPartsInOrderWithoutDroppedRows) {
  constexpr std::size_t kRows = 40'001;
  std::vector<std::uint8_t> first(kRows);
  std::vector<std::int16_t> second(kRows);
  Mask drop(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    first[i] = static_cast<std::uint8_t>(random_u64(1, i));
    second[i] = static_cast<std::int16_t>(random_u64(2, i));
    drop[i] = random_u64(3, i) % 3 == 0 ? 9 : 0;
  }
  const AnyColumn a = column_of(first), b = column_of(second);
  std::vector<std::int32_t> wanted;
  for (std::size_t i = 0; i < kRows; ++i) {
    if (drop[i] == 0) wanted.push_back(first[i]);
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    if (drop[i] == 0) wanted.push_back(-7);
  }
  wanted.insert(wanted.end(), second.begin(), second.end());
  wanted.insert(wanted.end(), 3, -7);
  const AnyColumn merged = merge({{&a, kRows, span_of(drop), kZero},
                                  {nullptr, kRows, span_of(drop), kZero},
                                  {&b, kRows, {}, kZero},
                                  {nullptr, 3, {}, kZero}},
                                 DType::kI32, -7);
  EXPECT_EQ(values_of<std::int32_t>(merged) == wanted, true);
}

TEST_P(MergeFrames, NothingAtAll) {
  EXPECT_EQ(merge({}, DType::kVec3d).size(), 0U);
  const AnyColumn none(DType::kF32, 0);
  EXPECT_EQ(merge({{&none, 0, {}, kZero}, {nullptr, 0, {}, kZero}}, DType::kF32).size(), 0U);
  const AnyColumn one = column_of<float>({1});
  EXPECT_EQ(merge({{&one, 1, span_of(Mask{1}), kZero}}, DType::kF32).size(), 0U);
}

TEST_P(MergeFrames, EqualTypesKeepEveryBit) {
  const std::uint64_t bits[] = {0x7ff0000000000001ULL, 0x8000000000000000ULL, 0xfff8000000000123ULL};
  std::vector<double> values(3);
  std::memcpy(values.data(), bits, sizeof bits);
  const std::uint32_t small_bits[] = {0x7f800001U, 0x80000000U};
  std::vector<float> small(2);
  std::memcpy(small.data(), small_bits, sizeof small_bits);
  const AnyColumn wide = column_of(values), narrow = column_of(small);
  const AnyColumn points = column_of<Vec3d>({{values[0], values[1], values[2]}, {-0.0, 0, 1}});
  EXPECT_EQ(bytes_of(merge({{&wide, 3, {}, kZero}}, DType::kF64)), bytes_of(wide));
  EXPECT_EQ(bytes_of(merge({{&wide, 3, span_of(Mask{0, 0, 0}), kZero}}, DType::kF64)), bytes_of(wide));
  EXPECT_EQ(bytes_of(merge({{&narrow, 2, {}, kZero}}, DType::kF32)), bytes_of(narrow));
  EXPECT_EQ(bytes_of(merge({{&points, 2, {}, kZero}}, DType::kVec3d)), bytes_of(points));
}

TEST_P(MergeFrames, OffsetsMoveTriplesOnly) {
  const AnyColumn points = column_of<Vec3d>({{500000.25, 1, -1}, {0.1, std::nan(""), 3}});
  const auto moved = values_of<Vec3d>(
      merge({{&points, 2, {}, {1e6, -5e6, 0.3}}, {nullptr, 1, {}, kZero}}, DType::kVec3d, 0));
  EXPECT_EQ(moved[0], (Vec3d{500000.25 + 1e6, 1 - 5e6, -1 + 0.3}));
  EXPECT_EQ(moved[1].x, 0.1 + 1e6);
  EXPECT_TRUE(std::isnan(moved[1].y));
  EXPECT_EQ(moved[2], kZero);
}

TEST_P(MergeFrames, ColoursAreFilledPerChannel) {
  const AnyColumn colors = column_of<Rgb16>({{1, 2, 3}});
  const auto merged =
      values_of<Rgb16>(merge({{&colors, 1, {}, kZero}, {nullptr, 2, {}, kZero}}, DType::kRgb16, 65535));
  EXPECT_EQ(merged, (std::vector<Rgb16>{{1, 2, 3}, {65535, 65535, 65535}, {65535, 65535, 65535}}));
}

/// Every type into every type, values at the ends: either the exact value, or an error that names value and row.
TEST_P(MergeFrames, ConvertsEveryPairOfTypesExactlyOrNamesTheValue) {
  constexpr DType kScalars[] = {DType::kU8,  DType::kI8,  DType::kU16, DType::kI16, DType::kU32,
                                DType::kI32, DType::kU64, DType::kI64, DType::kF32, DType::kF64};
  const auto ends_of = [](DType dtype) {
    return visit_scalar_type(dtype, [](auto type) {
      using T = typename decltype(type)::type;
      std::vector<T> values{T{0}, T{1}, static_cast<T>(100), std::numeric_limits<T>::lowest(),
                            std::numeric_limits<T>::max()};
      if constexpr (std::is_floating_point_v<T>) values.insert(values.end(), {T(0.5), T(1e10), T(-3)});
      return column_of(values);
    });
  };
  // long double holds every 64-bit integer and double here.
  const auto holds = [](DType dtype, long double exact) {
    return visit_scalar_type(dtype, [exact](auto type) {
      using T = typename decltype(type)::type;
      const auto low = static_cast<long double>(std::numeric_limits<T>::lowest());
      const auto high = static_cast<long double>(std::numeric_limits<T>::max());
      return exact >= low && exact <= high && static_cast<long double>(static_cast<T>(exact)) == exact;
    });
  };
  const auto exact_at = [](const AnyColumn& column, std::size_t row) {
    return visit_scalar(column, [row](auto values) { return static_cast<long double>(values[row]); });
  };
  for (const DType from : kScalars) {
    const AnyColumn column = ends_of(from);
    for (std::size_t i = 0; i < column.size(); ++i) {
      const AnyColumn one = visit_scalar(column, [i](auto values) {
        using T = std::remove_cvref_t<decltype(values[0])>;
        return column_of<T>({T{1}, values[i]});
      });
      const long double exact = exact_at(column, i);
      for (const DType to : kScalars) {
        const MergePart part{&one, 2, {}, kZero};
        if (holds(to, exact)) {
          EXPECT_EQ(exact_at(merge({part}, to), 1), exact) << dtype_name(from) << " to " << dtype_name(to);
          continue;
        }
        std::string message;
        EXPECT_EQ(code_of([&] { merge({part}, to); }, &message), ErrorCode::kInvalidArgument);
        EXPECT_NE(message.find(" of row 1 does not fit " + std::string(dtype_name(to))), std::string::npos)
            << message;
      }
    }
  }
}

TEST_P(MergeFrames, NamesTheFirstRowThatDoesNotFit) {
  std::vector<std::uint16_t> values(100'000, 5);
  Mask drop(values.size(), 0);
  values[70'000] = 256;  // dropped, in the same block of rows
  drop[70'000] = 1;
  values[70'001] = 300;
  values[90'000] = 400;
  const AnyColumn column = column_of(values);
  std::string message;
  EXPECT_EQ(code_of(
                [&] {
                  merge({{&column, values.size(), span_of(drop), kZero}}, DType::kU8);
                },
                &message),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(message, "value 300 of row 70001 does not fit u8");
  const AnyColumn half = column_of<double>({0.5});
  code_of([&] { merge({{&half, 1, {}, kZero}}, DType::kI32); }, &message);
  EXPECT_EQ(message, "value 0.5 of row 0 does not fit i32");
}

TEST_P(MergeFrames, Refuses) {
  const AnyColumn bytes(DType::kU8, 2), points(DType::kVec3d, 2), colors(DType::kRgb16, 2);
  constexpr auto kRefused = ErrorCode::kInvalidArgument;
  const auto code = [&](const MergePart& part, DType dtype, double fill = 0) {
    return code_of([&] { merge({part}, dtype, fill); });
  };
  EXPECT_EQ(code({&bytes, 3, {}, kZero}, DType::kU8), kRefused);
  EXPECT_EQ(code({&bytes, 2, span_of(Mask{0}), kZero}, DType::kU8), kRefused);
  EXPECT_EQ(code({&bytes, 2, {}, {1, 0, 0}}, DType::kU8), kRefused);
  EXPECT_EQ(code({&points, 2, {}, {HUGE_VAL, 0, 0}}, DType::kVec3d), kRefused);
  EXPECT_EQ(code({&points, 2, {}, kZero}, DType::kRgb16), kRefused);
  EXPECT_EQ(code({&points, 2, {}, kZero}, DType::kF64), kRefused);
  EXPECT_EQ(code({&colors, 2, {}, kZero}, DType::kU16), kRefused);
  EXPECT_EQ(code({&bytes, 2, {}, kZero}, DType::kVec3d), kRefused);
  EXPECT_EQ(code({nullptr, 2, {}, kZero}, DType::kU8, 256), kRefused);
  EXPECT_EQ(code({nullptr, 2, {}, kZero}, DType::kRgb16, -1), kRefused);
  EXPECT_EQ(merge({{&bytes, 2, {}, kZero}}, DType::kU8, 256).size(), 2U);  // nothing is filled
  EXPECT_EQ(
      values_of<std::uint8_t>(merge({{nullptr, 1, {}, kZero, 7}, {nullptr, 1, {}, kZero}}, DType::kU8, 9)),
      (std::vector<std::uint8_t>{7, 9}));  // a part's own fill
}

INSTANTIATE_TEST_SUITE_P(Threads, MergeFrames, testing::Values(1, 4));

TEST(MergeFramesCancel, EndsInTime) {
  const AnyColumn column(DType::kU32, 20'000'000);
  const MergePart part{&column, column.size(), {}, kZero};
  expect_cancel_in_time([&](OpContext& ctx) { merge_frames({part, part}, {DType::kF64, 0}, ctx); });
}

}  // namespace
}  // namespace pc::test
