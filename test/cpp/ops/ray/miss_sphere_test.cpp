#include "ops/ray/miss_sphere.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/columns.h"

namespace pc {
namespace {

MissSphere sphere(const std::vector<Vec3d>& positions, const std::vector<float>& is_miss,
                  const Vec3d& origin) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  return miss_sphere(test::span_of(positions), test::column_of(is_miss), origin, ctx);
}

/// Misses 1001 m from the scanner, in steps of 1 mm, within an angle of the zenith.
std::vector<Vec3d> misses(const Vec3d& scanner, std::size_t count, double widest_rad, double spread_m = 0) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> even(0, 1);
  std::normal_distribution<double> noise(0, 1);
  std::vector<Vec3d> out;
  for (std::size_t k = 0; k < count; ++k) {
    const double z = 1 - even(random) * (1 - std::cos(widest_rad)), phi = 6.2831853 * even(random);
    const double side = std::sqrt(1 - z * z), range = 1001 + spread_m * noise(random);
    const Vec3d p = scanner + Vec3d{side * std::cos(phi), side * std::sin(phi), z} * range;
    out.push_back(
        {std::round(p.x * 1000) / 1000, std::round(p.y * 1000) / 1000, std::round(p.z * 1000) / 1000});
  }
  return out;
}

TEST(MissSphere, TheScannerIsInItsMiddle) {
  const Vec3d scanner{500'012.3, 5'400'045.6, 101.7};
  for (const double widest : {1.5, 0.8, 0.3}) {
    auto places = misses(scanner, 5000, widest);
    std::vector<float> flags(places.size(), 1);
    places.push_back(scanner + Vec3d{3, 4, 0}), flags.push_back(0);  // a hit
    places.push_back({std::nan(""), 0, 0}), flags.push_back(1);      // without a place
    const MissSphere found = sphere(places, flags, scanner + Vec3d{2, -1, 0.5});
    EXPECT_EQ(found.count, 5000U);
    EXPECT_NEAR(found.center.x, scanner.x, 0.01);
    EXPECT_NEAR(found.center.y, scanner.y, 0.01);
    EXPECT_NEAR(found.center.z, scanner.z, 0.01);
    EXPECT_NEAR(found.radius_m, 1001, 0.01);
    EXPECT_LT(found.spread_m, 0.001);
    EXPECT_GT(found.spread_from_origin_m, 0.05);
  }
}

TEST(MissSphere, MissesAtAnyDistanceHaveNone) {
  const MissSphere found = sphere(misses({0, 0, 0}, 5000, 1.5, 100), std::vector<float>(5000, 1), {1, 0, 0});
  EXPECT_GT(found.spread_m, 50);
}

TEST(MissSphere, FewAndNone) {
  EXPECT_EQ(sphere({}, {}, {1, 2, 3}).count, 0U);
  const MissSphere one = sphere({{1, 2, 3}, {1, 2, 3}}, {1, 1}, {1, 2, 3});
  EXPECT_EQ(one.count, 2U);
  EXPECT_EQ(one.center, (Vec3d{1, 2, 3}));
  const MissSphere same = sphere(std::vector<Vec3d>(30, {1, 2, 3}), std::vector<float>(30, 1), {1, 2, 3});
  EXPECT_EQ(same.radius_m, 0);
  const MissSphere there = sphere(std::vector<Vec3d>(30, {1, 2, 9}), std::vector<float>(30, 1), {1, 2, 3});
  EXPECT_TRUE(std::isfinite(there.center.x));
}

}  // namespace
}  // namespace pc
