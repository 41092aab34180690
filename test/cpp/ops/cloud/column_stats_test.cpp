#include "ops/cloud/column_stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "core/random.h"

namespace pc {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// numpy's 'linear', written out.
double percentile(const std::vector<double>& sorted, double fraction) {
  const double at = fraction * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  if (low + 1 >= sorted.size()) return sorted.back();
  const double weight = at - static_cast<double>(low);
  return sorted[low] == sorted[low + 1] ? sorted[low] : sorted[low] * (1 - weight) + sorted[low + 1] * weight;
}

template <class T>
AnyColumn column_of(const std::vector<T>& values) {
  Column<T> column(values.size());
  std::copy(values.begin(), values.end(), column.view().begin());
  return AnyColumn(std::move(column));
}

template <class T>
void expect_oracle(const std::string& name, const std::vector<T>& values,
                   const std::vector<std::uint8_t>& skip, int threads) {
  std::vector<double> finite;
  std::uint64_t rows = 0, nans = 0, infinites = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!skip.empty() && skip[i] != 0) continue;
    ++rows;
    const auto v = static_cast<double>(values[i]);
    if (std::isnan(v)) {
      ++nans;
    } else if (std::isinf(v)) {
      ++infinites;
    } else {
      finite.push_back(v);
    }
  }
  std::sort(finite.begin(), finite.end());
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const ColumnStats stats = column_stats(column_of(values), {skip.data(), skip.size()}, ctx);
  EXPECT_EQ(stats.row_count, rows) << name;
  EXPECT_EQ(stats.nan_count, nans) << name;
  EXPECT_EQ(stats.infinite_count, infinites) << name;
  ASSERT_EQ(stats.finite_count, finite.size()) << name;
  ASSERT_EQ(stats.min.has_value(), !finite.empty()) << name;
  ASSERT_EQ(stats.p99.has_value(), !finite.empty()) << name;
  if (finite.empty()) {
    EXPECT_FALSE(stats.is_constant || stats.is_integral || stats.distinct.has_value()) << name;
    return;
  }
  EXPECT_EQ(*stats.min, finite.front()) << name;
  EXPECT_EQ(*stats.max, finite.back()) << name;
  EXPECT_EQ(*stats.p1, percentile(finite, 0.01)) << name;
  EXPECT_EQ(*stats.p99, percentile(finite, 0.99)) << name;
  EXPECT_EQ(stats.is_constant, finite.front() == finite.back()) << name;
  const bool integral =
      std::all_of(finite.begin(), finite.end(), [](double v) { return v == std::trunc(v); });
  EXPECT_EQ(stats.is_integral, integral) << name;
  const std::set<double> distinct(finite.begin(), finite.end());
  const bool listed = integral && distinct.size() <= kMaxDistinctValues &&
                      std::fabs(finite.front()) <= 0x1p53 && std::fabs(finite.back()) <= 0x1p53;
  ASSERT_EQ(stats.distinct.has_value(), listed) << name;
  if (!listed) return;
  EXPECT_TRUE(std::equal(distinct.begin(), distinct.end(), stats.distinct->begin(), stats.distinct->end()))
      << name;
}

template <class T>
void expect_oracles(const std::string& name, std::size_t n, const std::function<T(std::size_t)>& value) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = value(i);
  std::vector<std::uint8_t> some(n), all(n, 1), most(n, 1);
  for (std::size_t i = 0; i < n; ++i) some[i] = i % 3 == 0;
  for (std::size_t i = 0; i < n; i += 97) most[i] = 0;
  for (const int threads : {1, 4}) {
    for (const auto& skip : {std::vector<std::uint8_t>{}, some, all, most})
      expect_oracle(name, values, skip, threads);
  }
}

double unit(std::size_t i) { return random_unit(77, i); }

TEST(ColumnStats, EqualsAPlainSort) {
  for (const std::size_t n : {0U, 1U, 2U, 100U, 101U, 150'000U}) {
    const std::string size = " n=" + std::to_string(n);
    expect_oracles<float>("f32" + size, n, [](std::size_t i) { return static_cast<float>(unit(i) - 0.5); });
    expect_oracles<double>("utm" + size, n, [](std::size_t i) { return 4.5e6 + unit(i); });
    expect_oracles<double>("outlier" + size, n,
                           [](std::size_t i) { return i % 1000 == 1 ? 1e300 : -unit(i); });
    expect_oracles<std::uint8_t>("u8" + size, n,
                                 [](std::size_t i) { return static_cast<std::uint8_t>(random_u64(1, i)); });
    expect_oracles<std::int16_t>("i16" + size, n,
                                 [](std::size_t i) { return static_cast<std::int16_t>(random_u64(1, i)); });
  }
}

TEST(ColumnStats, DegenerateAndExtremeValues) {
  constexpr std::size_t kRows = 80'000;
  expect_oracles<float>("constant", kRows, [](std::size_t) { return 2.5F; });
  expect_oracles<float>("nan and inf", kRows, [](std::size_t i) {
    return static_cast<float>(i % 5 == 0 ? kNaN : i % 7 == 0 ? kInf : i % 11 == 0 ? -kInf : unit(i));
  });
  expect_oracles<double>("no finite", kRows, [](std::size_t i) { return i % 2 == 0 ? kNaN : -kInf; });
  expect_oracles<double>("lumps", kRows,
                         [](std::size_t i) { return unit(i) < 0.9 ? std::floor(unit(i + 1) * 4) : unit(i); });
  expect_oracles<double>("limits", kRows,
                         [](std::size_t i) { return (i % 2 == 0 ? 1 : -1) * 1.7e308 * unit(i); });
  expect_oracles<double>("zeros of both signs", kRows, [](std::size_t i) { return i % 2 == 0 ? 0.0 : -0.0; });
  expect_oracles<double>("sorted", kRows, [](std::size_t i) { return static_cast<double>(i); });
  expect_oracles<std::uint32_t>("4096 values", kRows,
                                [](std::size_t i) { return static_cast<std::uint32_t>(i % 4096 * 1000003); });
  expect_oracles<std::uint32_t>("4097 values", kRows,
                                [](std::size_t i) { return static_cast<std::uint32_t>(i % 4097); });
  expect_oracles<std::uint16_t>("constant u16", kRows, [](std::size_t) { return std::uint16_t{40'000}; });
  expect_oracles<std::int8_t>("runs of i8", kRows,
                              [](std::size_t i) { return static_cast<std::int8_t>(i / 7001 - 6); });
  expect_oracles<std::uint16_t>("4096 values of u16", kRows,
                                [](std::size_t i) { return static_cast<std::uint16_t>(i % 4096 * 15); });
  expect_oracles<std::int16_t>("4097 values of i16", kRows,
                               [](std::size_t i) { return static_cast<std::int16_t>(i % 4097 - 2000); });
  expect_oracles<std::uint64_t>("u64", kRows, [](std::size_t i) { return random_u64(1, i); });
  expect_oracles<std::int64_t>("i64", kRows,
                               [](std::size_t i) { return static_cast<std::int64_t>(random_u64(1, i)); });
  expect_oracles<std::int64_t>("beyond 2^53", kRows, [](std::size_t i) {
    return (std::int64_t{1} << 54) + static_cast<std::int64_t>(i % 2) * 4;
  });
  expect_oracles<float>("classes as floats", kRows,
                        [](std::size_t i) { return static_cast<float>(i % 9) - 4.0F; });
}

TEST(ColumnStats, ZeroIsNeverNegative) {
  JobControl control;
  OpContext ctx(control);
  const ColumnStats stats = column_stats(column_of<double>({-0.0, -0.0, -0.0}), {}, ctx);
  for (const auto& value : {stats.min, stats.max, stats.p1, stats.p99}) EXPECT_FALSE(std::signbit(*value));
}

TEST(ColumnStats, BatchEqualsSingleColumns) {
  const AnyColumn a = column_of<float>({1, 2, 3}), b = column_of<std::uint8_t>({7, 7, 7});
  JobControl control;
  OpContext ctx(control);
  const auto both = column_stats(std::vector<const AnyColumn*>{&a, &b}, {}, ctx);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].p99, column_stats(a, {}, ctx).p99);
  EXPECT_TRUE(both[1].is_constant);
  EXPECT_EQ(*both[1].distinct, std::vector<std::int64_t>{7});
  EXPECT_TRUE(column_stats(std::vector<const AnyColumn*>{}, {}, ctx).empty());
}

TEST(ColumnStats, RefusesWhatDoesNotFit) {
  const AnyColumn a = column_of<float>({1, 2, 3}), b = column_of<float>({1}), triples(DType::kVec3d, 3);
  const std::uint8_t skip[2] = {0, 0};
  JobControl control;
  OpContext ctx(control);
  EXPECT_THROW(column_stats(std::vector<const AnyColumn*>{&a, &b}, {}, ctx), Error);
  EXPECT_THROW(column_stats(triples, {}, ctx), Error);
  EXPECT_THROW(column_stats(a, {skip, 2}, ctx), Error);
  control.cancel_requested = true;
  try {
    column_stats(a, {}, ctx);
    ADD_FAILURE() << "not canceled";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kCanceled);
  }
}

}  // namespace
}  // namespace pc
