#include "ops/dem/lone_returns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.h"

namespace pc {
namespace {

using Points = std::vector<Vec3d>;
using Mask = std::vector<std::uint8_t>;

constexpr RasterFrame kFrame{0, 0, 1, 40, 40};

/// Level ground of 40 m x 40 m with a return every 0.5 m or so, the last ones first.
Points ground(double spacing = 0.5) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(0, 40);
  Points points;
  for (double left = std::pow(40 / spacing, 2); left > 0; --left)
    points.push_back({unit(random), unit(random), 0});
  return points;
}

std::pair<Mask, std::uint64_t> look(const Points& points, SurfaceSide side = SurfaceSide::kHighest,
                                    const Mask& skip = {}, const Mask& rows = {}, int threads = 2,
                                    const RasterFrame& frame = kFrame) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const LoneReturns found = lone_returns({points.data(), points.size()}, {skip.data(), skip.size()},
                                         {rows.data(), rows.size()}, frame, side, ctx);
  const Span<const std::uint8_t> alone = found.skip.view();
  return {{alone.begin(), alone.end()}, found.count};
}

/// Which of the points after the first `from` are alone.
Mask after(const Points& points, std::size_t from, SurfaceSide side = SurfaceSide::kHighest) {
  const auto [skip, count] = look(points, side);
  EXPECT_EQ(static_cast<std::uint64_t>(std::count(skip.begin(), skip.end(), 1)), count);
  EXPECT_EQ(std::count(skip.begin(), skip.begin() + static_cast<std::ptrdiff_t>(from), 1), 0);
  return {skip.begin() + static_cast<std::ptrdiff_t>(from), skip.end()};
}

TEST(LoneReturns, FindsBirdsAndLeavesFlocks) {
  Points points = ground();
  const std::size_t from = points.size();
  for (const Vec3d& p : Points{{10.5, 10.5, 30},  // one
                               {20.2, 20.2, 30},
                               {20.4, 20.8, 31},  // two, in one cell
                               {30.5, 30.5, 20},
                               {30.6, 30.5, 40},
                               {30.7, 30.5, 60},  // three above each other
                               {5.5, 30.5, 30},
                               {6.5, 30.5, 30},
                               {5.5, 31.5, 30}})  // three beside each other
    points.push_back(p);
  EXPECT_EQ(after(points, from), (Mask{1, 1, 1, 1, 1, 1, 0, 0, 0}));
}

TEST(LoneReturns, AreFurtherThanTheReachOfTheirPlace) {
  // 8 times 0.5 m; a quarter of the rows: 8 times 1 m.
  for (const auto& [height, spacing, is_alone] : {std::tuple{5.5, 0.5, 1},
                                                  {2.6, 0.5, 0},
                                                  {5.5, 1.0, 0},
                                                  {11.0, 1.0, 1},
                                                  {2.3, 0.1, 1},
                                                  {1.9, 0.1, 0}}) {
    Points points = ground(spacing);
    points.push_back({20.5, 20.5, height});
    EXPECT_EQ(look(points).second, static_cast<std::uint64_t>(is_alone)) << height << ' ' << spacing;
  }
}

TEST(LoneReturns, HaveTheSpacingOfTheirPlace) {
  Points points = ground(0.25);
  const auto sparse = [](const Vec3d& p) { return p.x > 20 && std::fmod(p.x * 1e6, 64) > 1; };
  points.erase(std::remove_if(points.begin(), points.end(), sparse), points.end());  // one in 64: 2 m apart
  const std::size_t from = points.size();
  points.push_back({14.5, 20.5, 10});
  points.push_back({30.5, 20.5, 10});
  EXPECT_EQ(after(points, from), (Mask{1, 0}));
}

TEST(LoneReturns, DoNotEatPolesFromTheirTop) {
  Points points = ground();
  const std::size_t from = points.size();
  for (int i = 1; i <= 12; ++i) points.push_back({20.5, 20.5, 3.0 * i});
  const Mask alone = after(points, from);
  EXPECT_EQ(std::count(alone.begin(), alone.end(), 1), 1);
  EXPECT_EQ(alone.back(), 1);
}

TEST(LoneReturns, BelowTheGround) {
  Points points = ground();
  const std::size_t from = points.size();
  points.push_back({10.5, 10.5, -8});
  points.push_back({12.5, 10.5, 8});
  EXPECT_EQ(after(points, from, SurfaceSide::kLowest), (Mask{1, 0}));
  EXPECT_EQ(after(points, from, SurfaceSide::kHighest), (Mask{0, 1}));
}

TEST(LoneReturns, OtherRowsAreCompany) {
  Points points = ground();
  for (int i = 0; i < 3; ++i) points.push_back({20.5 + 0.2 * i, 20.5, 30});
  Mask rows(points.size());
  for (std::size_t i = points.size() - 2; i < points.size(); ++i) rows[i] = 1;
  auto [alone, count] = look(points, SurfaceSide::kHighest, {}, rows);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(alone, rows);
  std::tie(alone, count) = look(points, SurfaceSide::kHighest, rows, rows);  // not if they count nowhere
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(std::count(alone.begin(), alone.end(), 1), 3);
}

TEST(LoneReturns, CompanyMayLieOutsideTheFrame) {
  Points points = ground();
  points.push_back({39.9, 20.5, 30});
  for (int i = 0; i < 3; ++i) points.push_back({40.5 + 0.2 * i, 20.5, 30});
  EXPECT_EQ(look(points).second, 0U);
  points.resize(points.size() - 3);
  EXPECT_EQ(look(points).second, 1U);
}

TEST(LoneReturns, TheSameForAnyThreads) {
  Points points = ground();
  std::mt19937 random(5);
  std::uniform_real_distribution<double> unit(0, 40), high(0, 4000);
  for (int i = 0; i < 3000; ++i) points.push_back({unit(random), unit(random), high(random)});
  const auto one = look(points, SurfaceSide::kHighest, {}, {}, 1);
  EXPECT_GT(one.second, 2000U);
  EXPECT_EQ(look(points, SurfaceSide::kHighest, {}, {}, 2), one);
  EXPECT_EQ(look(points, SurfaceSide::kHighest, {}, {}, 5), one);
}

TEST(LoneReturns, OfFewAndOddPoints) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(look({}).second, 0U);
  EXPECT_EQ(look({{1, 1, 1}, {2, 2, 90}}).second, 0U);  // no spacing
  EXPECT_EQ(look({{nan, 1, 1}, {1, nan, 1}, {1, 1, inf}, {1, 1, nan}}).second, 0U);
  EXPECT_EQ(look(Points(50, Vec3d{3, 3, 7})).second, 0U);  // all in one place
  Points twice = ground();
  twice.push_back({9.5, 9.5, 50});
  const Points once = twice;
  twice.insert(twice.end(), once.begin(), once.end());  // a file that holds each point twice
  EXPECT_EQ(look(twice).second, 2U);
  EXPECT_THROW(look(once, SurfaceSide::kHighest, Mask(5)), Error);
  EXPECT_THROW(look(once, SurfaceSide::kHighest, {}, Mask(5)), Error);
  EXPECT_THROW(look(once, SurfaceSide::kHighest, {}, {}, 1, {0, 0, 0, 4, 4}), Error);
}

}  // namespace
}  // namespace pc
