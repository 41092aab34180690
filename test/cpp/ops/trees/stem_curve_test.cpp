#include "ops/trees/stem_curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "ops/trees/stem_radius.h"

namespace {

using namespace pc;
constexpr double kPi = std::numbers::pi;

StemParams params_of(CircleSearch search = CircleSearch::kRansac) {
  return {search, 1.3, 0.10, {0.20, 0.30}, 0.02, 0.5, 0.5, 0.02, 1.5, 20,
          8,      0.5, 0.5,  2.5,          0.25, 4.0, 2,   0,    7};
}

/// A tapering stem on a slope, with heights above ground.
struct Trunk {
  double diameter = 0.30, taper = 0, height = 12;  ///< diameter at the base, its loss per metre
  double lean_deg = 0, azimuth_deg = 0, slope_x = 0;
  double arc_deg = 360, noise = 0.002;
  std::size_t clutter = 0, count = 60'000;
  Vec3d base{3, -4, 100};
  std::uint64_t seed = 1;

  std::vector<Vec3d> points;
  std::vector<double> heights;

  Vec3d axis() const {
    const double lean = lean_deg * kPi / 180, azimuth = azimuth_deg * kPi / 180;
    return {std::sin(lean) * std::sin(azimuth), std::sin(lean) * std::cos(azimuth), std::cos(lean)};
  }
  double ground(double x) const { return base.z + slope_x * (x - base.x); }
  double diameter_at(double axial) const { return diameter - taper * axial; }

  Trunk& build() {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0, noise);
    std::uniform_real_distribution<double> unit;
    const Vec3d w = axis();
    Vec3d u = Vec3d{1, 0, 0} - w * w.x;
    u = u * (1 / std::sqrt(dot(u, u)));
    const Vec3d v = cross(w, u);
    for (std::size_t i = 0; i < count; ++i) {
      const double s = -0.5 + (height + 0.5) * unit(random), angle = arc_deg / 180 * kPi * unit(random);
      const double r = diameter_at(s) / 2 + normal(random);
      add(base + w * s + u * (r * std::cos(angle)) + v * (r * std::sin(angle)));
    }
    for (std::size_t i = 0; i < clutter; ++i) {
      add(base + Vec3d{2 * unit(random) - 1, 2 * unit(random) - 1, 3 * unit(random)});
    }
    return *this;
  }
  void add(const Vec3d& p) {
    if (p.z < ground(p.x)) return;
    points.push_back(p);
    heights.push_back(p.z - ground(p.x));
  }
  Stem measure(const StemParams& params = params_of(), bool with_heights = true) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 1);
    const GroundHeights none;
    const Span<const double> known =
        with_heights ? Span<const double>{heights.data(), heights.size()} : Span<const double>{};
    const TreeGround under({points.data(), points.size()}, known, none, ctx);
    return measure_stem({points.data(), points.size()}, under, params, ctx);
  }
};

double lean_of(const Stem& stem) {
  return std::atan(std::hypot(stem.axis.x, stem.axis.y) / stem.axis.z) * 180 / kPi;
}
double azimuth_of(const Stem& stem) {
  const double degrees = std::atan2(stem.axis.x, stem.axis.y) * 180 / kPi;
  return degrees < 0 ? degrees + 360 : degrees;
}

TEST(StemCurve, TheCentreBelongsToTheDiameterWhereASectionShowsAnotherCircle) {
  Trunk trunk;
  trunk.diameter = 0.15;
  trunk.arc_deg = 80;
  trunk.noise = 0.001;
  trunk.build();
  // At breast height three columns of points, on a bump with the curvature of a stem of 0.8 m.
  std::vector<Vec3d> points;
  for (const Vec3d& p : trunk.points)
    if (std::abs(p.z - trunk.base.z - 1.3) > 0.1) points.push_back(p);
  const double c = std::cos(40 * kPi / 180), s = std::sin(40 * kPi / 180);
  for (int column = -1; column <= 1; ++column) {
    const double across = 0.02 * column, out = 0.075 - (0.4 - std::sqrt(0.16 - across * across));
    for (int k = 0; k < 20; ++k)
      points.push_back(trunk.base + Vec3d{c * out - s * across, s * out + c * across, 1.205 + 0.0095 * k});
  }
  trunk.points.clear();
  trunk.heights.clear();
  for (const Vec3d& p : points) trunk.add(p);
  const Stem stem = trunk.measure();
  ASSERT_TRUE(stem.breast_height.has_value());
  const StemSection& section = *stem.breast_height;
  EXPECT_NEAR(2 * section.circle.radius, 0.15, 0.03);
  EXPECT_NEAR(std::hypot(section.center.x - 3, section.center.y + 4), 0, 0.03);
  EXPECT_TRUE(section.partial_arc);
}

TEST(StemCurve, AVerticalStemOnFlatGround) {
  const Trunk trunk = Trunk().build();
  const Stem stem = trunk.measure();
  ASSERT_TRUE(stem.found);
  ASSERT_TRUE(stem.breast_height.has_value());
  EXPECT_NEAR(2 * stem.breast_height->circle.radius, 0.30, 0.003);
  EXPECT_NEAR(stem.base.x, 3, 0.005);
  EXPECT_NEAR(stem.base.y, -4, 0.005);
  EXPECT_NEAR(stem.base.z, 100, 0.005);
  EXPECT_EQ(stem.ground.source, GroundSource::kHeightAboveGround);
  EXPECT_LT(lean_of(stem), 0.3);
  EXPECT_FALSE(stem.breast_height->few_points || stem.breast_height->partial_arc ||
               stem.breast_height->high_residual);
  EXPECT_NEAR(stem.breast_height->axial_m, 1.3, 0.01);
}

TEST(StemCurve, ALeaningStemOnASlopeIsCutAcrossItsAxis) {
  Trunk trunk;
  trunk.lean_deg = 10;
  trunk.azimuth_deg = 60;
  trunk.slope_x = 0.3;
  const Stem stem = trunk.build().measure();
  ASSERT_TRUE(stem.breast_height.has_value());
  EXPECT_NEAR(2 * stem.breast_height->circle.radius, 0.30, 0.002);
  EXPECT_NEAR(lean_of(stem), 10, 0.3);
  EXPECT_NEAR(azimuth_of(stem), 60, 2);
}

TEST(StemCurve, BreastHeightIsMeasuredFromTheUphillSide) {
  Trunk trunk;
  trunk.slope_x = 0.6;
  trunk.taper = 0.05;
  trunk.height = 4;
  const Stem stem = trunk.build().measure();
  ASSERT_TRUE(stem.breast_height.has_value());
  const double uphill = 100 + 0.6 * stem.seed_radius;
  EXPECT_NEAR(stem.reference_z, uphill, 0.01);
  EXPECT_NEAR(2 * stem.breast_height->circle.radius, trunk.diameter_at(stem.reference_z - 100 + 1.3), 0.002);
}

TEST(StemCurve, HalfAStemInClutter) {
  for (const CircleSearch search : {CircleSearch::kRansac, CircleSearch::kHough}) {
    Trunk trunk;
    trunk.arc_deg = 180;
    trunk.noise = 0.005;
    trunk.clutter = 3000;
    trunk.lean_deg = 15;
    const Stem stem = trunk.build().measure(params_of(search));
    ASSERT_TRUE(stem.breast_height.has_value());
    EXPECT_NEAR(2 * stem.breast_height->circle.radius, 0.30, 0.01);
    EXPECT_NEAR(stem.breast_height->circle.arc_coverage, 0.5, 0.1);
  }
}

TEST(StemCurve, AThirdOfALargeStemIsFlagged) {
  Trunk trunk;
  trunk.diameter = 0.5;
  trunk.arc_deg = 120;
  trunk.noise = 0.010;
  const Stem stem = trunk.build().measure();
  ASSERT_TRUE(stem.breast_height.has_value());
  EXPECT_NEAR(2 * stem.breast_height->circle.radius, 0.5, 0.02);
  EXPECT_TRUE(stem.breast_height->partial_arc);
}

TEST(StemCurve, TheCurveFollowsTheTaper) {
  Trunk trunk;
  trunk.diameter = 0.4;
  trunk.taper = 0.02;
  const Stem stem = trunk.build().measure();
  std::size_t good = 0;
  for (const StemSection& section : stem.curve) {
    if (!section.ok) continue;
    EXPECT_NEAR(2 * section.circle.radius, trunk.diameter_at(section.axial_m), 0.004);
    EXPECT_NEAR(section.axial_m, 0.5 * static_cast<double>(good + 1), 1e-9);
    ++good;
  }
  EXPECT_GE(good, 10u);
  EXPECT_NEAR(2 * StemRadius(stem).at(2.3), trunk.diameter_at(2.3), 0.004);
  EXPECT_EQ(StemRadius(stem).at(0), stem.curve.front().circle.radius);
}

TEST(StemCurve, TheSameTreeGivesTheSameNumbersEverywhere) {
  Trunk trunk;
  trunk.lean_deg = 4;
  const Stem first = trunk.build().measure(), again = trunk.measure();
  EXPECT_EQ(first.breast_height->circle.radius, again.breast_height->circle.radius);
  Trunk far;
  far.lean_deg = 4;
  far.base = {5'000'003, 4'999'996, 100};
  const Stem moved = far.build().measure();
  EXPECT_NEAR(first.breast_height->circle.radius, moved.breast_height->circle.radius, 1e-6);
}

TEST(StemCurve, WithoutAStemThereIsAPlaceAndNoDiameter) {
  Trunk bush;
  bush.count = 0;
  bush.clutter = 500;
  const Stem stem = bush.build().measure();
  EXPECT_TRUE(std::isnan(stem.reference_z) == !stem.found);
  Trunk one;
  one.points = {{1, 2, 3}};
  const Stem point = one.measure(params_of(), false);
  EXPECT_FALSE(point.found);
  EXPECT_EQ(point.ground.source, GroundSource::kTreeMinimum);
  EXPECT_EQ(point.base.z, 3);
  EXPECT_TRUE(std::isnan(StemRadius(point).at(1)));
}

TEST(TreeGround, EachSourceAnswersWhereItCan) {
  JobControl control;
  OpContext ctx(control);
  std::vector<Vec3d> ground;
  for (int i = -20; i < 20; ++i) {
    for (int j = -20; j < 20; ++j) ground.push_back({0.25 * i, 0.25 * j, 7 + 0.1 * i});
  }
  const GroundHeights cells({ground.data(), ground.size()}, ctx);
  EXPECT_NEAR(cells.at({0.3, 0}), 7.1, 0.1);
  EXPECT_TRUE(std::isnan(cells.at({50, 0})));
  std::vector<Vec3d> tree;
  std::vector<double> heights;
  for (int i = 0; i < 40; ++i) {
    const double angle = i * 0.7;
    tree.push_back({100 + 0.2 * std::cos(angle), 0.2 * std::sin(angle), 5.5 + 0.02 * std::cos(angle)});
    heights.push_back(0.5);  // ground 5 + 0.1 (x - 100)
  }
  const TreeGround known({tree.data(), tree.size()}, {heights.data(), heights.size()}, cells, ctx);
  EXPECT_NEAR(known.at({100.1, 0}).z, 5.01, 1e-9);
  EXPECT_EQ(known.at({100.1, 0}).source, GroundSource::kHeightAboveGround);
  EXPECT_EQ(known.at({0.3, 0}).source, GroundSource::kGroundClass);
  EXPECT_EQ(known.at({-90, 0}).source, GroundSource::kTreeMinimum);
  EXPECT_EQ(known.at({-90, 0}).z, known.lowest());
}

}  // namespace
