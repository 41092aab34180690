#include "ops/trees/return_spacing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace {

using namespace pc;

double spacing(const std::vector<Vec3d>& points, const std::vector<std::uint8_t>& skip = {},
               int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return return_spacing({points.data(), points.size()}, {skip.data(), skip.size()}, ctx);
}

/// A square of 60 m with points in random places, `density` per square metre, moved by (x, y).
std::vector<Vec3d> plot(double density, double x, double y) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> unit(0, 60);
  std::vector<Vec3d> points;
  for (int i = 0; i < static_cast<int>(3600 * density); ++i)
    points.push_back({x + unit(random), y + unit(random), unit(random)});
  return points;
}

TEST(ReturnSpacing, IsThatOfTheDensity) {
  for (const double density : {0.05, 0.5, 3.0, 40.0}) {
    const std::vector<Vec3d> points = plot(density, 5e6, -3e6);
    EXPECT_NEAR(spacing(points), 1 / std::sqrt(density), 0.1 / std::sqrt(density)) << density;
    EXPECT_EQ(spacing(points, {}, 1), spacing(points, {}, 3));
  }
}

TEST(ReturnSpacing, GapsOtherCloudsAndSkippedPointsDoNotCount) {
  std::vector<Vec3d> points = plot(10, 0, 0);
  for (const Vec3d& p : plot(10, 900, 300)) points.push_back(p);
  EXPECT_NEAR(spacing(points), 1 / std::sqrt(10.0), 0.06);
  const std::size_t whole = points.size();
  std::vector<std::uint8_t> skip(whole, 0);
  for (std::size_t i = 0; i < whole; ++i) skip[i] = i % 10 == 0 ? 0 : 2;
  points.push_back({NAN, 0, 0});
  points.push_back({1e300, 0, 0});
  skip.push_back(0);
  skip.push_back(1);
  EXPECT_NEAR(spacing(points, skip), 1, 0.2);
}

TEST(ReturnSpacing, WorstShapes) {
  EXPECT_EQ(spacing({}), 0);
  EXPECT_EQ(spacing({{NAN, 0, 0}}), 0);
  EXPECT_EQ(spacing({{3, 3, 3}}), 1);
  EXPECT_EQ(spacing(std::vector<Vec3d>(400, {1, 2, 3})), 0.05);
  EXPECT_EQ(spacing({{-1e308, 0, 0}, {1e308, 0, 0}}), 0);
  EXPECT_EQ(spacing({{0, 0, 0}, {2e9, 0, 0}}), 0);
  EXPECT_GT(spacing({{0, 0, 0}, {9e8, 0, 0}}), 0);
  EXPECT_GT(spacing({{0, 0, 0}, {4e8, 4e8, 0}}), 0);
}

}  // namespace
