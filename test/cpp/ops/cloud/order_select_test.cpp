#include "ops/cloud/order_select.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

namespace pc {
namespace {

using order_select::Bracket;
using order_select::Brackets;
using order_select::Gap;
using order_select::Target;

constexpr std::size_t kCount = 1000;

bool read_number(std::size_t i, std::array<double, 1>& out) {
  out[0] = static_cast<double>((i * 7) % kCount);  // each of 0..999 once
  return true;
}

/// Value of `rank` when the first bracket is [low, high] with room for `capacity` values, and the passes it took. `gap`: of the
/// first pass.
std::pair<double, int> select_from(double low, double high, std::uint64_t capacity, std::uint64_t rank,
                                   Gap gap = {}) {
  JobControl control;
  OpContext ctx(control);
  double value = -1.0;
  Brackets brackets;
  brackets.push_back(
      std::make_unique<Bracket>(0, LaneRange{low, high}, capacity, std::vector<Target>{{rank, &value}}));
  int passes = 0;
  for (; !brackets.empty() && passes < 10; ++passes) {
    order_select::count_and_gather<1>(ctx, kCount, {gap}, brackets, read_number);
    brackets = order_select::resolve(std::move(brackets), kCount, {{0.0, kCount - 1.0}});
    gap = {};
  }
  return {value, passes};
}

TEST(OrderSelect, ARankTheBracketMissesIsFoundInASecondPass) {
  using Found = std::pair<double, int>;
  EXPECT_EQ(select_from(100, 200, 1000, 150), (Found{150, 1}));
  EXPECT_EQ(select_from(100, 200, 1000, 100), (Found{100, 1}));
  EXPECT_EQ(select_from(100, 200, 1000, 200), (Found{200, 1}));
  EXPECT_EQ(select_from(100, 200, 0, 150), (Found{150, 2})) << "more inside than there was room for";
  EXPECT_EQ(select_from(100, 200, 1000, 50), (Found{50, 2})) << "below";
  EXPECT_EQ(select_from(100, 200, 1000, 0), (Found{0, 2})) << "the smallest";
  EXPECT_EQ(select_from(100, 200, 1000, 700), (Found{700, 2})) << "above";
  EXPECT_EQ(select_from(100, 100, 0, 999), (Found{999, 2})) << "the largest, from a bracket of one value";
}

TEST(OrderSelect, ValuesInAGapAreCountedOnTheirSide) {
  using Found = std::pair<double, int>;
  constexpr double kEnd = std::numeric_limits<double>::infinity();
  for (const std::uint64_t rank : {100, 150, 200}) {
    EXPECT_EQ(select_from(100, 200, 1000, rank, {-kEnd, 100}), (Found{rank, 1})) << "below the bracket";
    EXPECT_EQ(select_from(100, 200, 1000, rank, {20, 80}), (Found{rank, 1}));
    EXPECT_EQ(select_from(100, 200, 1000, rank, {200, kEnd}), (Found{rank, 1})) << "above it";
  }
}

TEST(OrderSelect, TheGapOfALaneHoldsMostOfItsSampleAndMeetsNoBracket) {
  constexpr double kEnd = std::numeric_limits<double>::infinity();
  std::vector<double> sample(1001);
  std::iota(sample.begin(), sample.end(), 0.0);
  Brackets brackets;
  const auto gap = [&] {
    const Gap found = order_select::widest_gap(brackets, 1, sample);
    return std::pair(found.low, found.high);
  };
  const auto add = [&](std::uint32_t lane, double low, double high) {
    brackets.push_back(std::make_unique<Bracket>(lane, LaneRange{low, high}, 0, std::vector<Target>{}));
  };
  EXPECT_EQ(gap(), std::pair(-kEnd, kEnd)) << "without a bracket all";
  add(0, 0, 1000);  // of another lane
  add(1, 980, 995);
  EXPECT_EQ(gap(), std::pair(-kEnd, 980.0));
  add(1, 5, 15);
  EXPECT_EQ(gap(), std::pair(15.0, 980.0));
  add(1, 10, 30);
  EXPECT_EQ(gap(), std::pair(30.0, 980.0)) << "overlapping brackets";
  add(1, 0, 1000);
  EXPECT_EQ(gap().first < gap().second, false) << "one that holds the sample";
}

TEST(OrderSelect, ManyPercentilesOfOneLane) {
  JobControl control;
  OpContext ctx(control);
  std::vector<PercentileQuery> queries;
  for (int i = 0; i <= 100; ++i) queries.push_back({0, i / 100.0, -1.0});
  constexpr std::size_t kRows = 200'001;
  select_percentiles<1>(ctx, kRows, kRows, {{0.0, kRows - 1.0}}, queries,
                        [](std::size_t i, std::array<double, 1>& out) {
                          out[0] = static_cast<double>(i * 7 % kRows);
                          return true;
                        });
  // Values are their own ranks: 200 000 q, up to the rounding of q.
  for (const PercentileQuery& query : queries)
    EXPECT_NEAR(query.value, query.fraction * (kRows - 1.0), 1e-9) << query.fraction;
}

}  // namespace
}  // namespace pc
