#include "ops/fit/enclosing_solid.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "support/crown_samples.h"

namespace pc {
namespace {

using test::CrownSamples;

constexpr double kPi = std::numbers::pi;
constexpr CrownShape kShapes[]{CrownShape::kEllipsoid, CrownShape::kPrism, CrownShape::kCone};

CrownSolid enclose(CrownShape shape, const std::vector<Vec3d>& points, int threads = 2,
                   const std::vector<std::uint8_t>& kept = {}) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return enclosing_solid(shape, {{points.data(), points.size()}, {kept.data(), kept.size()}}, ctx);
}

void expect_near(const Vec3d& found, const Vec3d& wanted, double tolerance) {
  EXPECT_NEAR(found.x, wanted.x, tolerance);
  EXPECT_NEAR(found.y, wanted.y, tolerance);
  EXPECT_NEAR(found.z, wanted.z, tolerance);
}

double farthest(const CrownSolid& solid, const std::vector<Vec3d>& points) {
  double gauge = 0;
  for (const Vec3d& p : points) gauge = std::max(gauge, crown_gauge(solid, p));
  return gauge;
}

TEST(EnclosingSolid, EllipsoidOfAnOctahedronAndOfABox) {
  const std::vector<Vec3d> octahedron{{3, 1, 1}, {-1, 1, 1}, {1, 4, 1}, {1, -2, 1}, {1, 1, 2}, {1, 1, 0}};
  const auto of_tips = enclose(CrownShape::kEllipsoid, octahedron);
  expect_near(of_tips.center, {1, 1, 1}, 1e-8);
  expect_near(of_tips.half, {2, 3, 1}, 1e-8);
  std::vector<Vec3d> box;
  for (int i = 0; i < 8; ++i) box.push_back({i & 1 ? 5.0 : 1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 3.0 : -3.0});
  const auto of_box = enclose(CrownShape::kEllipsoid, box);
  expect_near(of_box.center, {3, 0, 0}, 1e-8);
  expect_near(of_box.half, {2 * std::sqrt(3), std::sqrt(3), 3 * std::sqrt(3)}, 1e-8);
}

/// Closed forms: around a cylinder 1.5 times its radius and 3 times its height, around a ball sqrt(2) R and 4 R.
TEST(EnclosingSolid, ConeOfItsTipAndRingOfACylinderAndOfABall) {
  std::vector<Vec3d> cone{{2, 3, 9}}, cylinder, ball;
  for (int i = 0; i < 12; ++i) {
    const double c = std::cos(i * kPi / 6), s = std::sin(i * kPi / 6);
    cone.push_back({2 + 1.5 * c, 3 + 1.5 * s, 4});
    cylinder.push_back({2 * c, 2 * s, 0});
    cylinder.push_back({2 * c, 2 * s, 3});
    for (int j = -10'000; j <= 10'000; ++j) {
      const double z = j / 10'000.0;
      ball.push_back({std::sqrt(1 - z * z) * c, std::sqrt(1 - z * z) * s, z});
    }
  }
  const auto of_cone = enclose(CrownShape::kCone, cone);
  expect_near(of_cone.center, {2, 3, 6.5}, 1e-7);
  expect_near(of_cone.half, {1.5, 1.5, 2.5}, 1e-7);
  const auto of_cylinder = enclose(CrownShape::kCone, cylinder);
  expect_near(of_cylinder.center, {0, 0, 4.5}, 1e-7);
  expect_near(of_cylinder.half, {3, 3, 4.5}, 1e-7);
  const auto of_ball = enclose(CrownShape::kCone, ball);
  expect_near(of_ball.center, {0, 0, 1}, 1e-4);
  expect_near(of_ball.half, {std::sqrt(2), std::sqrt(2), 2}, 1e-4);
}

/// The problems are convex: a solid that no small change improves is the smallest.
TEST(EnclosingSolid, NoSmallChangeEnclosesThePointsInLessVolume) {
  for (const CrownShape shape : kShapes) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      CrownSamples draw(seed);
      std::vector<Vec3d> points;
      const std::size_t count = 4 + seed * seed;
      for (std::size_t i = 0; i < count; ++i) points.push_back(draw.in_box({3, 1 + 0.1 * seed, 5}));
      const CrownSolid solid = enclose(shape, points);
      ASSERT_LE(farthest(solid, points), 1 + 1e-12) << "seed " << seed;
      const double volume = crown_volume(solid);
      for (int change = 0; change < 2000; ++change) {
        const double size = std::pow(10, draw.within(-5, -1));
        CrownSolid other = solid;
        other.center = other.center + draw.in_box(solid.half * size);
        const Vec3d grown = draw.in_box({size, size, size});
        other.half = {other.half.x * (1 + grown.x), other.half.y * (1 + grown.y),
                      other.half.z * (1 + grown.z)};
        if (shape == CrownShape::kCone) other.half.y = other.half.x;
        other = scaled(other, farthest(other, points));
        ASSERT_GE(crown_volume(other), volume * (1 - 1e-8)) << "seed " << seed << " change " << change;
      }
    }
  }
}

TEST(EnclosingSolid, ExactSamplesOfASolidGiveIt) {
  for (const CrownShape shape : kShapes) {
    CrownSamples draw(5);
    const CrownSolid truth{shape, {1e6, -2e6, 30}, {2, shape == CrownShape::kCone ? 2.0 : 1.5, 3}};
    const CrownSolid solid = enclose(shape, draw.surface(truth, 5000));
    EXPECT_NEAR(crown_volume(solid) / crown_volume(truth), 1, 0.001);
    expect_near(solid.half, truth.half, 0.003);
    expect_near(solid.center, truth.center, 0.003);
  }
}

TEST(EnclosingSolid, DoesNotDependOnThreadsOrOnPointsThatDoNotCount) {
  for (const CrownShape shape : kShapes) {
    CrownSamples draw(9);
    std::vector<Vec3d> points = draw.filled({shape, {0, 0, 0}, {2, 2, 3}}, 50'000);
    const CrownSolid one = enclose(shape, points, 1), many = enclose(shape, points, 5);
    EXPECT_EQ(one.center, many.center);
    EXPECT_EQ(one.half, many.half);
    std::vector<std::uint8_t> kept(points.size(), 1);
    points.push_back({100, 100, 100});
    kept.push_back(0);
    const CrownSolid without = enclose(shape, points, 2, kept);
    EXPECT_EQ(one.center, without.center);
    EXPECT_EQ(one.half, without.half);
  }
}

TEST(EnclosingSolid, FlatAndCollinearPoints) {
  const std::vector<Vec3d> level{{0, 0, 7}, {2, 0, 7}, {0, 1, 7}, {2, 1, 7}},
      upright{{1, 2, 0}, {1, 2, 3}, {1, 2, 5}};
  const std::vector<Vec3d> slanted{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}};
  const auto ellipse = enclose(CrownShape::kEllipsoid, level);
  expect_near(ellipse.half, {std::sqrt(2), std::sqrt(0.5), kFlatHalfExtent}, 1e-8);
  expect_near(enclose(CrownShape::kPrism, level).half, {1, 0.5, kFlatHalfExtent}, 1e-12);
  EXPECT_THROW(enclose(CrownShape::kCone, level), Error);
  expect_near(enclose(CrownShape::kEllipsoid, upright).half, {kFlatHalfExtent, kFlatHalfExtent, 2.5}, 1e-8);
  expect_near(enclose(CrownShape::kCone, upright).half, {kFlatHalfExtent, kFlatHalfExtent, 2.5}, 1e-8);
  expect_near(enclose(CrownShape::kEllipsoid, slanted).half,
              {1.5 * std::sqrt(3), 1.5 * std::sqrt(3), 1.5 * std::sqrt(3)}, 1e-7);
  for (const CrownShape shape : kShapes) EXPECT_LE(farthest(enclose(shape, slanted), slanted), 1 + 1e-12);
}

/// Heights of a level sheet that differ by a rounding, as at coordinates of 1e7 m; near the origin and high above it.
TEST(EnclosingSolid, SheetsThatAreThinnerThanTheirRounding) {
  for (const double height : {0.0, 20.0, 1e4}) {
    for (const double step : {1.9e-9, 5e-9, 3e-8}) {
      std::vector<Vec3d> points;
      for (int i = 0; i < 64; ++i)
        points.push_back({3 * std::cos(0.1 * i), 2 * std::sin(0.1 * i), height + (i % 2 == 0 ? 0 : step)});
      for (const CrownShape shape : {CrownShape::kEllipsoid, CrownShape::kPrism}) {
        const CrownSolid solid = enclose(shape, points);
        EXPECT_LE(farthest(solid, points), 1 + 1e-12) << height << " " << step;
        const bool round = shape == CrownShape::kEllipsoid && step > kFlatDifference;
        EXPECT_NEAR(solid.half.x, round ? 3 * std::sqrt(1.5) : 3, 0.03);  // around a flat cylinder
        EXPECT_LT(solid.half.z, 2e-6);
      }
    }
  }
  std::vector<Vec3d> rod;
  for (int i = 0; i < 64; ++i) rod.push_back({20 + (i % 2 == 0 ? 0 : 1.9e-9), 5, 0.1 * i});
  const CrownSolid cone = enclose(CrownShape::kCone, rod);
  EXPECT_LE(farthest(cone, rod), 1 + 1e-12);
  EXPECT_NEAR(cone.half.z, 3.15, 0.02);
}

TEST(EnclosingSolid, PointsOfOnePlaceGetTheLeastExtent) {
  const std::vector<Vec3d> place(5, {20, -3, 7});
  for (const CrownShape shape : {CrownShape::kEllipsoid, CrownShape::kPrism}) {
    const CrownSolid solid = enclose(shape, place);
    expect_near(solid.center, place[0], 1e-12);
    expect_near(solid.half, {kFlatHalfExtent, kFlatHalfExtent, kFlatHalfExtent}, 1e-8);
  }
}

/// Extents of a needle, a speck and a giant, far apart in scale.
TEST(EnclosingSolid, ThinTinyAndHugePoints) {
  for (const CrownShape shape : kShapes) {
    for (const Vec3d& half :
         {Vec3d{1e-7, 1, 1}, Vec3d{1e-5, 1e-5, 1e-5}, Vec3d{1e9, 1e9, 1e9}, Vec3d{1, 1, 1e-6}}) {
      CrownSamples draw(4);
      std::vector<Vec3d> points;
      for (int i = 0; i < 3000; ++i) points.push_back(draw.in_box(half));
      const CrownSolid solid = enclose(shape, points);
      EXPECT_LE(farthest(solid, points), 1 + 1e-12);
      EXPECT_LT(crown_volume(solid),
                100 * 8 * half.x * half.y * half.z * (shape == CrownShape::kCone ? half.y / half.x + 1 : 1));
    }
  }
}

TEST(CrownSolid, AreasFollowTheirClosedForms) {
  const auto area = [](CrownShape shape, const Vec3d& half) {
    return crown_surface_area({shape, {0, 0, 0}, half});
  };
  EXPECT_NEAR(area(CrownShape::kEllipsoid, {2, 2, 2}), 16 * kPi, 1e-12);
  const double e = std::sqrt(1 - 1.0 / 9);  // prolate: axes 1, 1, 3
  for (const Vec3d& half : {Vec3d{1, 1, 3}, Vec3d{1, 3, 1}, Vec3d{3, 1, 1}})
    EXPECT_NEAR(area(CrownShape::kEllipsoid, half), 2 * kPi * (1 + 3 / e * std::asin(e)), 1e-12);
  EXPECT_NEAR(area(CrownShape::kEllipsoid, {3, 3, 1}), 2 * kPi * 9 * (1 + (1 - e * e) / e * std::atanh(e)),
              1e-12);
  EXPECT_NEAR(area(CrownShape::kEllipsoid, {2, 3, 1e-6}), 2 * kPi * 6, 1e-6);  // both sides of an ellipse
  EXPECT_NEAR(area(CrownShape::kEllipsoid, {2, 1.5, 3}), 57.81, 0.01);         // hull of 20,000 points: 57.79
  double sum = 0;  // midpoint rule over the sphere's angles
  constexpr int kSteps = 400;
  for (int i = 0; i < kSteps; ++i) {
    for (int j = 0; j < kSteps; ++j) {
      const double t = (i + 0.5) * kPi / kSteps, f = (j + 0.5) * 2 * kPi / kSteps;
      const double x = std::sin(t) * std::cos(f), y = std::sin(t) * std::sin(f), z = std::cos(t);
      sum += std::sin(t) *
             std::sqrt(std::pow(1.5 * 3 * x, 2) + std::pow(2 * 3 * y, 2) + std::pow(2 * 1.5 * z, 2));
    }
  }
  EXPECT_NEAR(area(CrownShape::kEllipsoid, {2, 1.5, 3}), sum * 2 * kPi * kPi / kSteps / kSteps, 1e-3);
  EXPECT_NEAR(area(CrownShape::kCone, {3, 3, 2}), kPi * 9 + kPi * 3 * 5, 1e-12);
  EXPECT_NEAR(area(CrownShape::kPrism, {1, 2, 3}), 2 * (8 + 24 + 12), 1e-12);
}

TEST(CrownSolid, AScaledSolidPassesThroughThePointsOfItsGauge) {
  for (const CrownShape shape : kShapes) {
    CrownSamples draw(2);
    const CrownSolid solid{shape, {1, 2, 3}, {2, 2, 3}};
    for (int i = 0; i < 1000; ++i) {
      const Vec3d p = solid.center + draw.in_box({5, 5, 5});
      const double gauge = crown_gauge(solid, p);
      EXPECT_EQ(gauge <= 1, CrownSamples::inside(solid, p));
      EXPECT_NEAR(crown_gauge(scaled(solid, gauge), p), 1, 1e-12);
    }
  }
}

}  // namespace
}  // namespace pc
