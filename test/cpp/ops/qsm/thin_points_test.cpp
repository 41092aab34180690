#include "ops/qsm/thin_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "core/error.h"

namespace {

using namespace pc;

/// Points on a stem and on thin branches in a box that is empty but for them, as trees are.
BulkVector<Vec3d> tree_of(std::size_t count, const Vec3d& at = {0, 0, 0}) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit;
  BulkVector<Vec3d> points(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double angle = 2 * std::numbers::pi * unit(random), along = unit(random);
    const double turn = 0.7 * static_cast<double>(i % 20);
    points[i] = i % 2 == 0 ? Vec3d{0.15 * std::cos(angle), 0.15 * std::sin(angle), 15 * along}
                           : Vec3d{4 * along * std::cos(turn), 4 * along * std::sin(turn),
                                   3 + 0.5 * static_cast<double>(i % 20) + along};
    points[i] = points[i] + at;
  }
  return points;
}

ThinnedPoints thinned(BulkVector<Vec3d> points, std::uint64_t most) {
  JobControl control;
  OpContext ctx(control);
  return thin_points(std::move(points), most, ctx);
}

TEST(ThinPoints, KeepAsManyAsTheBudgetAllows) {
  for (const std::uint64_t most : {2'000u, 10'000u, 40'000u}) {
    const ThinnedPoints found = thinned(tree_of(50'000), most);
    EXPECT_LE(found.points.size(), most);
    EXPECT_GE(found.points.size(), 0.85 * static_cast<double>(most))
        << most << ", voxels of " << found.voxel_m;
  }
}

TEST(ThinPoints, AllPointsWithinTheBudgetAreKept) {
  const ThinnedPoints found = thinned(tree_of(1'000), 1'000);
  EXPECT_EQ(found.points.size(), 1'000u);
  EXPECT_TRUE(std::isnan(found.voxel_m));
}

TEST(ThinPoints, APlaceHoldsOnePoint) {
  const ThinnedPoints found = thinned(BulkVector<Vec3d>(5'000), 10);
  EXPECT_EQ(found.points.size(), 1u);
  EXPECT_EQ(found.voxel_m, 1e-4) << "no finer than the least edge";
}

TEST(ThinPoints, OneKeepsTheLowestByXYZ) {
  const auto points = tree_of(500);
  Vec3d least = points[0];
  for (const Vec3d& p : points)
    if (p.x < least.x) least = p;
  const ThinnedPoints found = thinned(tree_of(500), 1);
  ASSERT_EQ(found.points.size(), 1u);
  EXPECT_EQ(found.points[0].x, least.x);
}

TEST(ThinPoints, FarPointsFit) {
  auto points = tree_of(20'000, {5e6, 5e6, 0});
  points[7] = {-4e8, 0, 0};
  const ThinnedPoints found = thinned(std::move(points), 1'000);
  EXPECT_LE(found.points.size(), 1'000u);
  EXPECT_GE(found.points.size(), 800u);
}

TEST(ThinPoints, RefuseTheImpossible) {
  EXPECT_THROW(thinned(tree_of(10), 0), Error);
  auto points = tree_of(10);
  points[3].y = std::nan("");
  EXPECT_THROW(thinned(std::move(points), 5), Error);
  points = tree_of(10);
  points[3].z = 2e9;
  EXPECT_THROW(thinned(std::move(points), 5), Error);
}

}  // namespace
