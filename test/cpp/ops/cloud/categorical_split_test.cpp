#include "ops/cloud/categorical_split.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "core/random.h"
#include "support/cancel.h"
#include "support/columns.h"

namespace pc::test {
namespace {

struct PlainGroups {
  std::vector<double> values;
  std::vector<std::uint64_t> counts, order;
};

PlainGroups plain(const AnyColumn& column, const std::vector<std::uint8_t>& skip,
                  const std::set<double>& exclude) {
  std::map<double, std::vector<std::uint64_t>> rows;
  visit_scalar(column, [&](auto values) {
    for (std::size_t i = 0; i < values.size; ++i) {
      const double v = std::rint(static_cast<double>(values[i])) + 0.0;
      if (std::isfinite(v) && !exclude.contains(v) && (skip.empty() || skip[i] == 0)) rows[v].push_back(i);
    }
  });
  PlainGroups groups;
  for (const auto& [value, list] : rows) {
    groups.values.push_back(value);
    groups.counts.push_back(list.size());
    groups.order.insert(groups.order.end(), list.begin(), list.end());
  }
  return groups;
}

void expect_equal(const ClassGroups& groups, const PlainGroups& wanted, const std::string& what) {
  EXPECT_EQ(groups.values, wanted.values) << what;
  EXPECT_EQ(groups.counts, wanted.counts) << what;
  std::vector<std::uint64_t> order;
  if (groups.order.dtype() == DType::kU32) {
    for (const auto row : groups.order.as<std::uint32_t>()) order.push_back(row);
  } else {
    order = values_of<std::uint64_t>(groups.order);
  }
  EXPECT_EQ(order == wanted.order, true) << what;
}

class SplitByClass : public testing::TestWithParam<int> {
 protected:
  JobControl control;
  OpContext ctx{control, Device::kCpu, GetParam()};
};

TEST_P(SplitByClass, OrdersByClassThenRow) {
  const AnyColumn column = column_of<float>({2, 0, 7, 1.5F, std::nanf(""), 0, -1, HUGE_VALF});
  const ClassGroups groups =
      categorical_split(column, span_of<std::uint8_t>({0, 0, 0, 0, 0, 0, 0, 0}), {0, 99}, ctx);
  EXPECT_EQ(groups.values, (std::vector<double>{-1, 2, 7}));
  EXPECT_EQ(groups.counts, (std::vector<std::uint64_t>{1, 2, 1}));
  EXPECT_EQ(values_of<std::uint32_t>(groups.order), (std::vector<std::uint32_t>{6, 0, 3, 2}));
}

TEST_P(SplitByClass, NothingOneRowAllExcludedAndOneClass) {
  for (const AnyColumn& column :
       {AnyColumn(DType::kU8, 0), AnyColumn(DType::kF64, 1), column_of<float>({std::nanf("")})}) {
    const ClassGroups groups = categorical_split(column, {}, {0}, ctx);
    EXPECT_TRUE(groups.values.empty());
    EXPECT_EQ(groups.order.size(), 0U);
    EXPECT_EQ(groups.order.dtype(), DType::kU32);
  }
  const ClassGroups one = categorical_split(AnyColumn(DType::kF64, 3), {}, {}, ctx);
  EXPECT_EQ(values_of<std::uint32_t>(one.order), (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST_P(SplitByClass, EqualsStableGroupingForAnyTypeAndNumberOfClasses) {
  constexpr std::size_t kRows = 150'001;
  std::vector<std::uint8_t> skip(kRows);
  for (std::size_t i = 0; i < kRows; ++i) skip[i] = random_u64(1, i) % 3 == 0 ? 1 : 0;
  for (const std::uint64_t classes : {2, 300, 70'000}) {
    std::vector<std::uint32_t> near(kRows);
    std::vector<double> far(kRows);
    std::vector<std::int16_t> few(kRows);
    for (std::size_t i = 0; i < kRows; ++i) {
      near[i] = static_cast<std::uint32_t>(random_u64(2, i) % classes);
      far[i] = (static_cast<double>(random_u64(3, i) % classes) - 100) * 1e12;
      few[i] = static_cast<std::int16_t>(random_u64(4, i) % 7 - 3);
    }
    for (const AnyColumn& column : {column_of(near), column_of(far), column_of(few)}) {
      const std::string what = std::to_string(classes) + " classes of " + dtype_name(column.dtype());
      expect_equal(categorical_split(column, span_of(skip), {0, 1}, ctx), plain(column, skip, {0, 1}), what);
      expect_equal(categorical_split(column, {}, {}, ctx), plain(column, {}, {}), what);
    }
  }
}

TEST_P(SplitByClass, WideRowsGiveTheSame) {
  std::vector<std::uint8_t> classes(100'003), skip(100'003);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    classes[i] = static_cast<std::uint8_t>(random_u64(5, i) % 11);
    skip[i] = random_u64(6, i) % 5 == 0 ? 1 : 0;
  }
  const AnyColumn column = column_of(classes);
  const PlainGroups wanted = plain(column, skip, {3});
  for (const DType index : {DType::kU32, DType::kU64}) {
    const ClassGroups groups = categorical_split_parts::split(column, span_of(skip), {3}, index, ctx);
    EXPECT_EQ(groups.order.dtype(), index);
    expect_equal(groups, wanted, dtype_name(index));
  }
}

TEST_P(SplitByClass, TakeRowsGathersEveryType) {
  constexpr std::size_t kRows = 100'003;
  std::vector<std::uint32_t> order(kRows);
  for (std::size_t i = 0; i < kRows; ++i) order[i] = static_cast<std::uint32_t>(random_u64(7, i) % kRows);
  const AnyColumn narrow = column_of(order);
  const AnyColumn wide = column_of(std::vector<std::uint64_t>(order.begin(), order.end()));
  for (const DType dtype :
       {DType::kU8, DType::kI16, DType::kF32, DType::kF64, DType::kVec3d, DType::kRgb16}) {
    AnyColumn column(dtype, kRows);
    const std::size_t size = dtype_size(dtype);
    for (std::size_t b = 0; b < column.bytes(); ++b)
      column.data()[b] = static_cast<std::byte>(random_u64(8, b));
    for (const AnyColumn* rows : {&narrow, &wide}) {
      const auto taken = take_rows({&column, &narrow}, *rows, 1'000, 90'000, ctx);
      ASSERT_EQ(taken.at(0).size(), 90'000U);
      for (std::size_t i = 0; i < 90'000; ++i)
        ASSERT_EQ(std::memcmp(taken[0].data() + i * size, column.data() + order[1'000 + i] * size, size), 0);
      EXPECT_EQ(taken.at(1).as<std::uint32_t>()[5], order[order[1'005]]);
    }
  }
  EXPECT_EQ(take_rows({&narrow}, narrow, kRows, 0, ctx)[0].size(), 0U);
  EXPECT_TRUE(take_rows({}, narrow, 0, 5, ctx).empty());
}

TEST_P(SplitByClass, Refuses) {
  const AnyColumn column(DType::kU8, 3), triples(DType::kVec3d, 3);
  const AnyColumn order = column_of<std::uint32_t>({0, 3}), bytes = column_of<std::uint8_t>({0});
  constexpr auto kRefused = ErrorCode::kInvalidArgument;
  EXPECT_EQ(code_of([&] { categorical_split(triples, {}, {}, ctx); }), kRefused);
  EXPECT_EQ(code_of([&] { categorical_split(column, span_of<std::uint8_t>({0}), {}, ctx); }), kRefused);
  EXPECT_EQ(code_of([&] { take_rows({&column}, bytes, 0, 1, ctx); }), kRefused);
  EXPECT_EQ(code_of([&] { take_rows({&column}, order, 0, 3, ctx); }), kRefused);
  EXPECT_EQ(code_of([&] { take_rows({&column}, order, 3, 0, ctx); }), kRefused);
  EXPECT_EQ(code_of([&] { take_rows({&column}, order, 0, ~std::uint64_t{0}, ctx); }), kRefused);
  EXPECT_EQ(code_of([&] { take_rows({&column}, order, 0, 2, ctx); }), kRefused);  // row 3 of 3
  EXPECT_EQ(take_rows({&column}, order, 0, 1, ctx)[0].size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Threads, SplitByClass, testing::Values(1, 4));

TEST(SplitByClassCancel, EndsInTimeWithManyWideClasses) {
  Column<std::uint32_t> ids(2'000'000);
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<std::uint32_t>(random_u64(1, i) % 500'000 * 8'001);
  const AnyColumn column(std::move(ids));
  const auto run = [&](OpContext& ctx) { categorical_split(column, {}, {}, ctx); };
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const auto start = std::chrono::steady_clock::now();
  run(ctx);
  const auto whole =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
  for (const double share : {0.3, 0.7})
    EXPECT_LT(
        least_cancel_latency(
            run, {"", 0, std::chrono::microseconds(static_cast<std::int64_t>(share * whole.count())), 1}),
        kCancelSeconds)
        << share << " of " << whole.count() << " us";
}

TEST(SplitByClassCancel, EndsInTime) {
  Column<std::uint32_t> trees(8'000'000);
  for (std::size_t i = 0; i < trees.size(); ++i)
    trees[i] = static_cast<std::uint32_t>(random_u64(1, i) % 5000);
  const AnyColumn column(std::move(trees));
  expect_cancel_in_time([&](OpContext& ctx) { categorical_split(column, {}, {}, ctx); });
  const std::vector<const AnyColumn*> many(10, &column);
  Column<std::uint32_t> zeros(8'000'000);
  const AnyColumn order(std::move(zeros));
  expect_cancel_in_time([&](OpContext& ctx) { take_rows(many, order, 0, order.size(), ctx); });
}

}  // namespace
}  // namespace pc::test
