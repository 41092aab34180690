#include "ops/trees/stray_top.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <vector>

#include "core/error.h"

namespace {

using namespace pc;

double lower_of(const std::vector<Vec3d>& points, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return stray_top({points.data(), points.size()}, ctx);
}

/// The surface of a cone of 10 units by its size, with its tip at z = 10 units.
std::vector<Vec3d> cone(double unit = 1, const Vec3d& at = {}, std::size_t count = 6000) {
  std::mt19937_64 random{3};
  std::uniform_real_distribution<double> u(0, 1);
  std::vector<Vec3d> points;
  for (std::size_t i = 0; i < count; ++i) {
    const double down = std::sqrt(u(random)), turn = 6.2831853 * u(random);
    points.push_back(at + Vec3d{2 * down * std::cos(turn), 2 * down * std::sin(turn), 10 - 8 * down} * unit);
  }
  points.push_back(at + Vec3d{0, 0, 10 * unit});
  return points;
}

TEST(StrayTop, ATipIsItsOwn) {
  for (const double unit : {0.03, 1.0, 6.0})
    for (const double away : {0.0, 1e6}) EXPECT_EQ(lower_of(cone(unit, {away, -away, 0})), 0) << unit;
}

TEST(StrayTop, DropsAboveAreNot) {
  auto points = cone();
  points.push_back({0.5, 0.3, 12});
  EXPECT_NEAR(lower_of(points), 2, 1e-12);
  points.push_back({-1.4, 0.9, 11.2});
  points.push_back({1.1, -1.2, 13.5});
  EXPECT_NEAR(lower_of(points), 3.5, 1e-12);
  // Two echoes of one drop.
  points.push_back({1.1, -1.205, 13.5});
  EXPECT_NEAR(lower_of(points), 3.5, 1e-12);
  // Drops beside the crown, lower than its tip.
  auto beside = cone();
  for (int k = 0; k < 5; ++k) beside.push_back({3 + 0.4 * k, 0.2 * k, 9.6});
  EXPECT_EQ(lower_of(beside), 0);
}

TEST(StrayTop, ASwarmIsNoPartOfTheTree) {
  auto points = cone();
  for (int k = 0; k < 27; ++k)
    points.push_back({2.0 * (k % 3) + 0.1 * (k % 2), 2.0 * (k / 3 % 3), 13 + 2.0 * (k / 9) + 0.1 * (k % 4)});
  EXPECT_GT(lower_of(points), 7);
}

TEST(StrayTop, ALeaderAndABranchAreOfTheTree) {
  auto points = cone();
  for (int k = 1; k <= 25; ++k) points.push_back({0.002 * k, 0, 10 + 0.06 * k});
  EXPECT_EQ(lower_of(points), 0);
  // A clump of 30 points above a gap of a metre: a part of the crown whose twig no beam met.
  auto clump = cone();
  for (int k = 0; k < 30; ++k) clump.push_back({0.05 * (k % 6), 0.05 * (k / 6), 11 + 0.01 * k});
  EXPECT_EQ(lower_of(clump), 0);
}

TEST(StrayTop, OfFewOrEqualPointsNothingIsKnown) {
  EXPECT_TRUE(std::isnan(lower_of({})));
  EXPECT_TRUE(std::isnan(lower_of(cone(1, {}, 32))));
  EXPECT_TRUE(std::isnan(lower_of(std::vector<Vec3d>(500, Vec3d{1, 2, 3}))));
  // Nothing but drops: the lowest of those that were looked at.
  std::vector<Vec3d> sparse;
  for (int k = 0; k < 40; ++k) sparse.push_back({std::pow(1.7, k % 20) * (k % 2 ? 1 : -1), 5.0 * k, 0.5 * k});
  EXPECT_GE(lower_of(sparse), 0);
}

TEST(StrayTop, IsTheSameInAnyOrderAndForAnyThreads) {
  auto points = cone(1, {}, 30'000);
  points.push_back({0.5, 0.3, 12});
  points.push_back({0.6, 0.3, 12});  // equally high
  const double lower = lower_of(points, 1);
  EXPECT_NEAR(lower, 2, 1e-12);
  std::shuffle(points.begin(), points.end(), std::mt19937_64{9});
  EXPECT_EQ(lower_of(points, 4), lower);
}

TEST(StrayTop, IsCanceled) {
  JobControl control;
  control.cancel_requested = true;
  OpContext ctx(control, Device::kCpu, 1);
  const auto points = cone();
  EXPECT_THROW(stray_top({points.data(), points.size()}, ctx), Error);
}

}  // namespace
