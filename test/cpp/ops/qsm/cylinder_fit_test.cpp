#include "ops/qsm/cylinder_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace pc {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// Points on a cylinder from `start` along `axis`.
struct Sampled {
  Vec3d start{0.3, -0.2, 1};
  Vec3d axis{0.36, 0.48, 0.8};
  double radius = 0.08, length = 0.3, arc_deg = 360, noise = 0;
  std::size_t count = 600;
  std::uint64_t seed = 1;

  std::vector<Vec3d> points() const {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit;
    std::normal_distribution<double> normal;
    const Vec3d u{0.8, -0.6, 0}, v = cross(axis, u);
    std::vector<Vec3d> out;
    for (std::size_t i = 0; i < count; ++i) {
      const double angle = arc_deg / 180 * kPi * unit(random), r = radius + noise * normal(random);
      out.push_back(start + axis * (length * unit(random)) + u * (r * std::cos(angle)) +
                    v * (r * std::sin(angle)));
    }
    return out;
  }
  CylinderSeed cylinder_seed() const {
    return {start + Vec3d{0.01, 0, -0.01}, start + axis * length + Vec3d{0, 0.01, 0}, radius * 0.7};
  }
};

FittedCylinder fit(const std::vector<Vec3d>& points, const CylinderSeed& seed) {
  return fit_cylinder({points.data(), points.size()}, seed);
}

double distance_to_axis(const Vec3d& p, const Sampled& s) {
  const Vec3d d = p - s.start, along = s.axis * dot(d, s.axis);
  return std::sqrt(squared_distance(d, along));
}

TEST(CylinderFit, AnExactCylinderIsFoundExactly) {
  for (const double radius : {0.004, 0.03, 0.08, 0.45}) {
    for (const double arc : {360.0, 180.0, 120.0}) {
      Sampled s;
      s.radius = radius;
      s.arc_deg = arc;
      s.length = std::max(0.1, radius);
      const FittedCylinder found = fit(s.points(), s.cylinder_seed());
      ASSERT_EQ(found.state, CylinderFitState::kFitted) << radius << " " << arc;
      EXPECT_NEAR(found.radius_m, radius, 2e-4) << arc;
      EXPECT_LT(distance_to_axis(found.start, s), 3e-4) << radius << " " << arc;
      EXPECT_LT(distance_to_axis(found.end, s), 3e-4) << radius << " " << arc;
      EXPECT_NEAR(found.angular_cov, arc / 360, 0.06);
    }
  }
}

TEST(CylinderFit, CoverageIsTheShareOfTheSurface) {
  Sampled s;
  s.count = 20000;
  s.arc_deg = 180;
  const FittedCylinder half = fit(s.points(), s.cylinder_seed());
  EXPECT_NEAR(half.surf_cov, 0.5, 0.12);
  s.arc_deg = 360;
  EXPECT_GT(fit(s.points(), s.cylinder_seed()).surf_cov, 0.85);
}

TEST(CylinderFit, TheLongestArcIsNotTheSumOfPatches) {
  for (const double turned : {0.0, 90.0, 300.0}) {  // across the first sector too
    for (const double apart : {0.0, 90.0}) {
      std::vector<Vec3d> points;
      Sampled s;
      const Vec3d u{0.8, -0.6, 0}, v = cross(s.axis, u);
      for (int i = 0; i < 2000; ++i) {
        const int patch = i % 3;
        const double degrees = turned + patch * (40 + apart) + 40.0 * (i / 3 % 41) / 41;
        const double angle = degrees / 180 * kPi;
        points.push_back(s.start + s.axis * (s.length * i / 2000) + u * (s.radius * std::cos(angle)) +
                         v * (s.radius * std::sin(angle)));
      }
      const FittedCylinder found = fit(points, s.cylinder_seed());
      ASSERT_EQ(found.state, CylinderFitState::kFitted) << turned << " " << apart;
      EXPECT_NEAR(found.angular_cov, 120.0 / 360, 0.1) << turned << " " << apart;
      EXPECT_NEAR(found.arc_cov, (apart > 0 ? 40.0 : 120.0) / 360, 0.06) << turned << " " << apart;
    }
  }
}

TEST(CylinderFit, TheStandardErrorTellsTheSpreadOfTheRadius) {
  for (const double arc : {360.0, 150.0}) {
    double inside = 0, total = 0, sum = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      Sampled s;
      s.seed = seed;
      s.noise = 0.003;
      s.arc_deg = arc;
      s.count = 300;
      const FittedCylinder found = fit(s.points(), s.cylinder_seed());
      ASSERT_EQ(found.state, CylinderFitState::kFitted);
      inside += std::fabs(found.radius_m - s.radius) < 1.96 * found.radius_se_m ? 1 : 0;
      sum += found.radius_m - s.radius;
      total += 1;
    }
    EXPECT_GE(inside / total, 0.92) << arc;
    EXPECT_LT(std::fabs(sum / total), 0.0015) << arc;
  }
}

TEST(CylinderFit, OutliersHardlyMoveIt) {
  Sampled s;
  s.noise = 0.002;
  std::vector<Vec3d> points = s.points();
  for (int i = 0; i < 60; ++i) points.push_back(s.start + Vec3d{0.2 + 0.001 * i, 0.1, 0.1});
  const FittedCylinder found = fit(points, s.cylinder_seed());
  ASSERT_EQ(found.state, CylinderFitState::kFitted);
  EXPECT_NEAR(found.radius_m, s.radius, 0.003);
}

TEST(CylinderFit, AFlatArcDoesNotBecomeAHugeCylinder) {
  Sampled s;
  s.radius = 0.4;
  s.arc_deg = 12;
  s.noise = 0.002;
  CylinderSeed seed = s.cylinder_seed();
  seed.radius_m = 0.02;
  const FittedCylinder found = fit(s.points(), seed);
  EXPECT_NE(found.state, CylinderFitState::kFitted);
  EXPECT_EQ(found.radius_m, seed.radius_m);
  EXPECT_TRUE(std::isnan(found.mad_m));
}

TEST(CylinderFit, ShapesWithoutACylinderKeepTheSeed) {
  const CylinderSeed seed{{0, 0, 0}, {0, 0, 0.1}, 0.01};
  std::vector<Vec3d> line, place, plane;
  for (int i = 0; i < 50; ++i) {
    line.push_back({0, 0, i * 0.002});
    place.push_back({0.01, 0.02, 0.03});
    plane.push_back({(i % 7) * 0.01, (i / 7) * 0.01, 0});
  }
  for (const auto& points :
       {line, place, plane, std::vector<Vec3d>{}, std::vector<Vec3d>(5, Vec3d{0, 0, 0})}) {
    const FittedCylinder found = fit(points, seed);
    EXPECT_TRUE(std::isfinite(found.radius_m) && found.radius_m >= 0.001 && found.radius_m <= 0.5);
    EXPECT_TRUE(is_finite(found.start) && is_finite(found.end));
    EXPECT_GE(found.surf_cov, 0);
    EXPECT_LE(found.surf_cov, 1);
  }
  EXPECT_EQ(fit({}, seed).state, CylinderFitState::kFewPoints);
}

TEST(CylinderFit, NotANumberIsLeftOut) {
  Sampled s;
  s.noise = 0.002;
  std::vector<Vec3d> points = s.points(), dirty = points;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  dirty.insert(dirty.begin() + 7, {nan, 0, 0});
  dirty.push_back({0, HUGE_VAL, 0});
  EXPECT_EQ(fit(points, s.cylinder_seed()).radius_m, fit(dirty, s.cylinder_seed()).radius_m);
}

TEST(CylinderFit, AnOffsetOfTheWorldChangesNothingThatMatters) {
  Sampled near, far;
  near.noise = far.noise = 0.002;
  far.start = far.start + Vec3d{5e6, -5e6, 1000};
  const FittedCylinder a = fit(near.points(), near.cylinder_seed()),
                       b = fit(far.points(), far.cylinder_seed());
  EXPECT_NEAR(a.radius_m, b.radius_m, 1e-6);
  EXPECT_NEAR(a.start.x + 5e6, b.start.x, 1e-6);
  EXPECT_NEAR(a.surf_cov, b.surf_cov, 0.02);
}

}  // namespace
}  // namespace pc
