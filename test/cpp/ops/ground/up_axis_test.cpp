#include "ops/ground/up_axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace pc;

/// Gently rolling ground with trees of leaves.
std::vector<Vec3d> land(std::size_t count) {
  std::mt19937_64 random{4};
  std::uniform_real_distribution<double> u(0, 1);
  std::vector<Vec3d> out;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = 50 * u(random), y = 40 * u(random), z = std::sin(x / 8) + 0.5 * std::cos(y / 6);
    const double crown = 6 + 6 * std::abs(std::sin(x) * std::sin(y));
    out.push_back({x, y, i % 2 == 0 ? z : z + crown * (0.4 + 0.6 * u(random))});
  }
  return out;
}

UpAxis of(const std::vector<Vec3d>& points, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return up_axis(HitPoints::assume_hits({points.data(), points.size()}), ctx);
}

TEST(UpAxis, LandIsEvenAlongTheAxisThatPointsUpwards) {
  const std::vector<Vec3d> points = land(60'000);
  const auto even = of(points).even;
  EXPECT_GT(even[2], 0.8);
  for (const std::size_t k : {0u, 1u, 3u, 4u, 5u}) EXPECT_LT(even[k], 0.4) << k;
  std::vector<Vec3d> turned;
  for (const Vec3d& p : points) turned.push_back({p.x, p.z, -p.y});  // y upwards
  const auto other = of(turned).even;
  EXPECT_NEAR(other[1], even[2], 0.02);
  EXPECT_NEAR(other[2], even[4], 0.02);
  std::vector<Vec3d> hung;
  for (const Vec3d& p : points) hung.push_back({p.x + 5e6, -p.y, -p.z});
  EXPECT_NEAR(of(hung).even[5], even[2], 0.02);
}

TEST(UpAxis, OrderAndThreadsDoNotMatter) {
  std::vector<Vec3d> points = land(450'000);  // thinned
  const auto even = of(points).even;
  std::vector<Vec3d> reversed(points.rbegin(), points.rend());
  EXPECT_EQ(of(reversed, 1).even, even);
}

TEST(UpAxis, NothingIsSaidOfFewPointsLinesPlanesAndPlaces) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  std::vector<Vec3d> line, plane, place(5000, Vec3d{1, 2, 3}), odd = land(800), far;
  for (int i = 0; i < 5000; ++i) {
    line.push_back({0.1 * i, 0, 0});
    plane.push_back({0.1 * (i % 70), 0.1 * (i / 70), 0});
    odd.push_back(i % 2 == 0 ? Vec3d{nan, 0, 0} : Vec3d{0, inf, 1});
    far.push_back({i % 2 == 0 ? 1e300 : -1e300, 1e300 * (i % 3), i * 1e296});
  }
  for (const auto& points : {std::vector<Vec3d>{}, land(999), line, plane, place, odd})
    for (const double even : of(points).even) EXPECT_TRUE(std::isnan(even));
  of(far);                  // ends
  std::vector<Vec3d> tiny;  // squares of its extents are 0
  for (const Vec3d& p : land(5000)) tiny.push_back(p * 1e-200);
  EXPECT_GT(of(tiny).even[2], 0.5);
}

}  // namespace
