#include "ops/dem/below_canopy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "core/error.h"

namespace pc {
namespace {

using Points = std::vector<Vec3d>;

/// Points on a surface over 40 m x 40 m, a share of them on the ground instead. The height is z.
template <class Surface>
Points over(const Surface& surface, double through, int count = 60'000, Vec3d shift = {0, 0, 0}) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  Points points;
  for (int i = 0; i < count; ++i) {
    const double x = 40 * unit(random), y = 40 * unit(random);
    points.push_back(Vec3d{x, y, unit(random) < through ? 0 : surface(x, y)} + shift);
  }
  return points;
}
double crowns(double x, double y) { return 6 + 1.5 * std::sin(2 * x) * std::cos(2 * y); }

BelowCanopy look(const Points& points, int threads = 2, const std::vector<std::uint8_t>& skip = {}) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  Column<float> heights(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) heights[i] = static_cast<float>(points[i].z);
  return below_canopy({points.data(), points.size()}, {skip.data(), skip.size()},
                      AnyColumn(std::move(heights)), ctx);
}

TEST(BelowCanopy, NothingIsSeenBelowASurface) {
  const BelowCanopy found = look(over(crowns, 0));
  EXPECT_EQ(found.cell, 0.5);
  EXPECT_NEAR(static_cast<double>(found.cells), 6400, 1);
  EXPECT_GT(found.closed, 3000U);
  EXPECT_EQ(found.seen, 0U);
}

TEST(BelowCanopy, NoneOfASteepEdgeOrOfSlopes) {
  // A canopy with cliffs of 6 m towards clearings, whose sides are part of the surface.
  const auto cliffs = [](double x, double y) {
    return std::clamp(30 * (std::fmod(x, 10) - 4), 0.0, crowns(x, y));
  };
  const BelowCanopy found = look(over(cliffs, 0, 400'000));
  EXPECT_GT(found.closed, 1000U);
  EXPECT_EQ(found.seen, 0U);
}

TEST(BelowCanopy, MostCellsOfAScanAreSeen) {
  const BelowCanopy found = look(over(crowns, 0.3));
  EXPECT_GT(found.closed, 3000U);
  EXPECT_GT(static_cast<double>(found.seen), 0.9 * static_cast<double>(found.closed));
}

TEST(BelowCanopy, RoofsAreNoCanopy) {
  EXPECT_LT(look(over([](double x, double) { return 4 + 0.5 * x; }, 0)).closed, 200U) << "of 6400";
  EXPECT_LT(look(over([](double, double) { return 3.0; }, 0)).closed, 10U);
  EXPECT_EQ(look(over([](double x, double y) { return 0.3 * crowns(x, y) - 0.5; }, 0)).closed, 0U) << "herbs";
}

TEST(BelowCanopy, TheSameForAnyOrderThreadsAndPlace) {
  Points points = over(crowns, 0.02);
  const BelowCanopy one = look(points, 1);
  EXPECT_GT(one.seen, 0U);
  EXPECT_LT(one.seen, one.closed);
  std::shuffle(points.begin(), points.end(), std::mt19937(1));
  const BelowCanopy two = look(points, 2);
  EXPECT_EQ(one.closed, two.closed);
  EXPECT_EQ(one.seen, two.seen);
  EXPECT_EQ(one.cells, two.cells);
  const BelowCanopy far = look(over(crowns, 0.02, 60'000, {5e6, 5e6, 0}));
  EXPECT_NEAR(static_cast<double>(far.closed), static_cast<double>(one.closed), 5);
}

TEST(BelowCanopy, SparseCloudsHaveWiderCells) {
  const BelowCanopy found =
      look(over([](double x, double y) { return 3 * crowns(x / 4, y / 4); }, 0.3, 1600));
  EXPECT_EQ(found.cell, 4);
  EXPECT_GT(found.closed, 20U);
  EXPECT_GT(2 * found.seen, found.closed);
}

TEST(BelowCanopy, FewAndOddPoints) {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(look({}).cells, 0U);
  EXPECT_EQ(look({{1, 2, 3}}).cells, 1U);
  EXPECT_EQ(look({{1, 2, 3}, {1, 2, 3}, {1, 2, nan}, {nan, 2, 3}, {infinite, 0, 4}}).closed, 0U);
  EXPECT_EQ(look({{-1e300, 0, 3}, {1e300, 0, 3}, {0, 1e300, 3}}).closed, 0U);
  EXPECT_LE(look({{0, 0, 3}, {1e7, 1e7, 3}}).cells, 2U);
  EXPECT_EQ(look(Points(1000, {5, 5, 9})).closed, 0U);
  const Points points = over(crowns, 0);
  EXPECT_EQ(look(points, 2, std::vector<std::uint8_t>(points.size(), 1)).cells, 0U);
  EXPECT_THROW(look(points, 2, std::vector<std::uint8_t>(3)), Error);
}

}  // namespace
}  // namespace pc
