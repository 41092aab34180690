#include "ops/cloud/class_counts.h"

#include <cmath>
#include <limits>
#include <map>

#include "core/random.h"
#include "support/cancel.h"
#include "support/columns.h"

namespace pc::test {
namespace {

using Counted = std::map<double, std::uint64_t>;

Counted as_map(const ClassCounts& classes) {
  EXPECT_TRUE(std::is_sorted(classes.values.begin(), classes.values.end()));
  Counted map;
  for (std::size_t i = 0; i < classes.values.size(); ++i) map[classes.values[i]] = classes.counts.at(i);
  EXPECT_EQ(map.size(), classes.values.size());
  return map;
}

Counted plain(const AnyColumn& column, const std::vector<std::uint8_t>& skip) {
  Counted map;
  visit_scalar(column, [&](auto values) {
    for (std::size_t i = 0; i < values.size; ++i) {
      const double v = std::rint(static_cast<double>(values[i]));
      if (std::isfinite(v) && (skip.empty() || skip[i] == 0)) ++map[v];
    }
  });
  return map;
}

class CountClasses : public testing::TestWithParam<int> {
 protected:
  Counted count(const AnyColumn& column, const std::vector<std::uint8_t>& skip = {}) {
    return as_map(class_counts(column, span_of(skip), ctx));
  }
  JobControl control;
  OpContext ctx{control, Device::kCpu, GetParam()};
};

TEST_P(CountClasses, RoundsHalfToEvenAndLeavesOutWhatIsNotFinite) {
  const AnyColumn column =
      column_of<double>({0.5, -0.5, -0.0, 1.5, 2.5, std::nan(""), HUGE_VAL, -HUGE_VAL, -3});
  EXPECT_EQ(count(column), (Counted{{-3, 1}, {0, 3}, {2, 2}}));
  EXPECT_EQ(count(column, {1, 0, 0, 0, 1, 0, 0, 0, 0}), (Counted{{-3, 1}, {0, 2}, {2, 1}}));
  const ClassCounts classes = class_counts(column_of<float>({-0.2F}), {}, ctx);
  EXPECT_FALSE(std::signbit(classes.values.at(0)));
}

TEST_P(CountClasses, NothingOneRowAndAllSkipped) {
  EXPECT_TRUE(count(AnyColumn(DType::kF32, 0)).empty());
  EXPECT_TRUE(count(column_of<std::uint8_t>({7}), {1}).empty());
  EXPECT_TRUE(count(column_of<double>({std::nan("")})).empty());
  EXPECT_EQ(count(column_of<std::int64_t>({-5})), (Counted{{-5, 1}}));
  EXPECT_EQ(count(column_of<std::int8_t>({-128, 127})), (Counted{{-128, 1}, {127, 1}}));
}

TEST_P(CountClasses, EveryTypeEqualsTheMap) {
  constexpr std::size_t kRows = 150'001;
  std::vector<std::uint8_t> skip(kRows);
  for (std::size_t i = 0; i < kRows; ++i) skip[i] = random_u64(1, i) % 3 == 0 ? 1 : 0;
  for (const DType dtype : {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kU32, DType::kI32,
                            DType::kU64, DType::kI64, DType::kF32, DType::kF64}) {
    for (const std::uint64_t spread : {std::uint64_t{1}, std::uint64_t{100'000'000'000}}) {  // dense, sorted
      AnyColumn column(dtype, kRows);
      visit_scalar(column, [&](auto values) {
        using T = std::remove_cvref_t<decltype(values[0])>;
        const Span<T> out = column.as_mutable<T>();
        for (std::size_t i = 0; i < kRows; ++i)
          out[i] = static_cast<T>(static_cast<T>(random_u64(2, i) % 50 * spread) - static_cast<T>(7));
      });
      EXPECT_EQ(count(column, skip), plain(column, skip)) << dtype_name(dtype) << " spread " << spread;
    }
  }
}

TEST_P(CountClasses, SortedPartsAreJoined) {
  // More rows than are sorted at once, classes too far apart to be counted in a table.
  constexpr std::size_t kRows = (std::size_t{1} << 22) + 70'000;
  Column<double> column(kRows);
  for (std::size_t i = 0; i < kRows; ++i)
    column[i] = (static_cast<double>(random_u64(3, i) % 1000) - 500) * 1e9 * (i < 4'000'000 ? 1 : 2);
  const AnyColumn values(std::move(column));
  EXPECT_EQ(count(values) == plain(values, {}), true);
}

TEST_P(CountClasses, RefusesTriplesOtherLengthsAndColumnsWithoutClasses) {
  constexpr auto kRefused = ErrorCode::kInvalidArgument;
  EXPECT_EQ(code_of([&] { count(AnyColumn(DType::kVec3d, 1)); }), kRefused);
  EXPECT_EQ(code_of([&] { count(AnyColumn(DType::kU8, 2), {0}); }), kRefused);
  Column<std::uint32_t> distinct(kMaxClasses + 1);
  for (std::size_t i = 0; i < distinct.size(); ++i) distinct[i] = static_cast<std::uint32_t>(i);
  const AnyColumn column(std::move(distinct));
  std::string message;
  EXPECT_EQ(code_of([&] { count(column); }, &message), kRefused);
  EXPECT_NE(message.find("1048576"), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(Threads, CountClasses, testing::Values(1, 4));

TEST(CountClassesCancel, EndsInTime) {
  const AnyColumn dense(DType::kF64, 20'000'000);
  expect_cancel_in_time([&](OpContext& ctx) { class_counts(dense, {}, ctx); });
  Column<double> far(5'000'000);
  for (std::size_t i = 0; i < far.size(); ++i) far[i] = static_cast<double>(random_u64(1, i) % 1000) * 1e12;
  const AnyColumn sorted(std::move(far));
  expect_cancel_in_time([&](OpContext& ctx) { class_counts(sorted, {}, ctx); });
}

}  // namespace
}  // namespace pc::test
