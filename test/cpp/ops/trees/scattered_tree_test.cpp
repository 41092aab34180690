#include "ops/trees/scattered_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/error.h"

namespace {

using namespace pc;

using Points = std::vector<Vec3d>;

/// `count` points at random places of a box.
Points box(std::size_t count, const Vec3d& from, const Vec3d& size, std::uint64_t seed = 1) {
  std::mt19937_64 random{seed};
  std::uniform_real_distribution<double> u(0, 1);
  Points points;
  for (std::size_t i = 0; i < count; ++i)
    points.push_back({from.x + size.x * u(random), from.y + size.y * u(random), from.z + size.z * u(random)});
  return points;
}

double scatter_of(const Points& tree, const Points& ground) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const GroundHeights heights({ground.data(), ground.size()}, ctx);
  return tree_scatter({tree.data(), tree.size()}, heights, ctx);
}

const Points kGround = box(80'000, {-10, -10, 0}, {20, 20, 0});  // 200 per square metre

TEST(ScatteredTree, SpacingIsThatOfRandomPoints) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const GroundHeights heights({kGround.data(), kGround.size()}, ctx);
  EXPECT_NEAR(heights.spacing({0, 0}), 0.5 / std::sqrt(200.0), 0.001);
  EXPECT_NEAR(heights.spacing({9.9, 9.9}), 0.5 / std::sqrt(200.0),
              0.002);  // cells without points do not count
  EXPECT_TRUE(std::isnan(heights.spacing({15, 0})));
}

TEST(ScatteredTree, DropsAreAsFarApartAsRandomPoints) {
  // Hertz 1909: the median distance to the nearest of random points is (3 ln 2 / (4 pi density))^(1/3).
  const Points drops = box(2000, {-2, -2, 1}, {4, 4, 8});
  const double expected = std::cbrt(3 * std::log(2) / (4 * 3.14159265 * 2000 / 128)) * 2 * std::sqrt(200.0);
  EXPECT_NEAR(scatter_of(drops, kGround), expected, 0.07 * expected);
  EXPECT_LT(scatter_of(drops, kGround),
            kScattered);  // 16 drops per cubic metre above sparse ground: not told
  EXPECT_GT(scatter_of(box(300, {-2, -2, 1}, {4, 4, 8}), box(800'000, {-5, -5, 0}, {10, 10, 0})),
            2 * kScattered);
}

TEST(ScatteredTree, WhatHasASurfaceIsSampledAsTheGround) {
  const Points wall = box(6000, {0, -3, 0}, {0, 6, 5});  // as many per square metre
  EXPECT_NEAR(scatter_of(wall, kGround), 0.94, 0.1);     // median over mean of the plane: 0.9394
}

TEST(ScatteredTree, NothingIsKnownWithoutGroundOrPoints) {
  EXPECT_TRUE(std::isnan(scatter_of(box(29, {0, 0, 0}, {1, 1, 1}), kGround)));
  EXPECT_TRUE(std::isnan(scatter_of(box(500, {40, 0, 0}, {1, 1, 1}), kGround)));
  EXPECT_TRUE(std::isnan(scatter_of(box(500, {0, 0, 0}, {1, 1, 1}), {})));
  EXPECT_TRUE(std::isnan(scatter_of(Points(500, Vec3d{1, 1, 1}), kGround)));
}

TEST(ScatteredTree, IsTheSameInAnyOrder) {
  Points drops = box(2000, {-2, -2, 1}, {4, 4, 8});
  const double once = scatter_of(drops, kGround);
  std::shuffle(drops.begin(), drops.end(), std::mt19937_64{9});
  EXPECT_EQ(scatter_of(drops, kGround), once);
}

TEST(ScatteredTree, IsCanceled) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const GroundHeights heights({kGround.data(), kGround.size()}, ctx);
  control.cancel_requested = true;
  const Points drops = box(2000, {-2, -2, 1}, {4, 4, 8});
  EXPECT_THROW(tree_scatter({drops.data(), drops.size()}, heights, ctx), Error);
}

}  // namespace
