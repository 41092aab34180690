#include "ops/trees/covered_stem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "ops/trees/ribbed_foot.h"
#include "ops/trees/stem_bark.h"

namespace {

using namespace pc;
constexpr double kPi = std::numbers::pi;
constexpr double kRadius = 0.16;

StemParams stem_params() {
  return {CircleSearch::kRansac,
          1.3,
          0.10,
          {0.20, 0.30},
          0.02,
          0.5,
          0.5,
          0.02,
          1.5,
          20,
          8,
          0.5,
          0.5,
          2.5,
          0.25,
          4.0,
          2,
          0,
          7};
}
const CircleFitParams kParams{CircleSearch::kRansac, 0.02, 0.02, 1.5, 8, 0, 0};

/// A stem of 12 m that tapers by 1 cm per metre, and leaves of 6 cm before it.
struct IvyStem {
  std::mt19937_64 random{4};
  std::uniform_real_distribution<double> unit;
  std::vector<Vec3d> points;

  double normal(double deviation) { return std::normal_distribution<double>(0, deviation)(random); }
  static double radius(double z) { return kRadius - 0.005 * (z - 1.3); }

  /// Points about the bark between two heights, per metre.
  IvyStem& bark(double low, double high, double per_metre, double noise) {
    for (double i = 0; i < (high - low) * per_metre; ++i) {
      const double z = low + (high - low) * unit(random), turn = 2 * kPi * unit(random);
      const double r = radius(z) + normal(noise);
      points.push_back({r * std::cos(turn), r * std::sin(turn), z});
    }
    return *this;
  }
  /// Leaves of 12 points each.
  IvyStem& leaves(double low, double high, double per_metre, double near, double far) {
    for (double i = 0; i < (high - low) * per_metre / 12; ++i) {
      const double z = low + (high - low) * unit(random), turn = 2 * kPi * unit(random);
      const double r = radius(z) + near + (far - near) * unit(random), tilt = kPi * unit(random);
      for (int k = 0; k < 12; ++k) {
        const double across = 0.06 * (unit(random) - 0.5), along = 0.06 * (unit(random) - 0.5);
        const double out = r + across * std::cos(tilt);
        const double way = turn + across * std::sin(tilt) / r;
        points.push_back({out * std::cos(way), out * std::sin(way), z + along});
      }
    }
    return *this;
  }
  Stem measure() const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 1);
    const GroundHeights none;
    std::vector<double> heights;
    for (const Vec3d& p : points) heights.push_back(p.z);
    const TreeGround under({points.data(), points.size()}, {heights.data(), heights.size()}, none, ctx);
    return measure_stem({points.data(), points.size()}, under, stem_params(), ctx);
  }
  /// Of 0.3 m about breast height, from above.
  std::vector<Vec2d> slice() const {
    std::vector<Vec2d> out;
    for (const Vec3d& p : points)
      if (std::abs(p.z - 1.3) <= 0.15) out.push_back({p.x, p.y});
    return out;
  }
  std::optional<CoveredBark> found(double start = 0.25) const {
    const auto at = slice();
    return covered_bark({at.data(), at.size()}, {{{0, 0}, start}, {{0.004, 0}, kRadius + 0.005}}, kParams);
  }
};

TEST(CoveredBark, IsFoundBetweenLeaves) {
  const auto bark = IvyStem().bark(0, 12, 3000, 0.003).leaves(0, 6, 20'000, 0.03, 0.15).found();
  ASSERT_TRUE(bark);
  EXPECT_NEAR(bark->circle.radius, kRadius, 0.0015);
  EXPECT_LT(std::hypot(bark->circle.center.x, bark->circle.center.y), 0.002);
  EXPECT_TRUE(is_cover({0, kRadius + 0.03}, *bark));
  EXPECT_FALSE(is_cover({0, kRadius + 0.004}, *bark));
}

TEST(CoveredBark, NoPointFartherThanTheInlierDistanceBelongsToIt) {
  IvyStem stem;
  const auto at = stem.bark(0, 12, 30'000, 0.0003).leaves(0, 6, 20'000, 0.03, 0.15).slice();
  CircleFitParams params = kParams;
  params.inlier_distance_m = 0.002;  // less than the least band
  const auto bark = covered_bark({at.data(), at.size()}, {{{0, 0}, kRadius}}, params);
  ASSERT_TRUE(bark);
  EXPECT_EQ(bark->band_m, 0.002);
  EXPECT_NEAR(bark->circle.radius, kRadius, 0.0015);
}

TEST(CoveredBark, FewPointsAreNone) {
  for (const std::size_t count : {0U, 1U, 2U, 29U, 31U}) {
    auto at = IvyStem().bark(0, 12, 8000, 0.003).leaves(0, 6, 20'000, 0.03, 0.15).slice();
    at.resize(count);
    EXPECT_FALSE(covered_bark({at.data(), at.size()}, {{{0, 0}, kRadius}}, kParams)) << count;
    const std::vector<Vec2d> same(1000, Vec2d{0.1, 0.1});
    EXPECT_FALSE(covered_bark({same.data(), same.size()}, {{{0, 0}, kRadius}, {{0.1, 0.1}, 0.1}}, kParams));
  }
}

TEST(CoveredBark, ABareStemHasNone) { EXPECT_FALSE(IvyStem().bark(0, 12, 8000, 0.003).found()); }

TEST(CoveredBark, NoiseIsNone) {
  for (const double noise : {0.01, 0.02, 0.035, 0.05})
    for (const double start : {0.08, 0.12, 0.16, 0.2, 0.25})
      EXPECT_FALSE(IvyStem().bark(0, 12, 8000, noise).found(start)) << noise << " " << start;
}

/// Two scans 4 cm apart: each bark has a part of the other one within it.
TEST(CoveredBark, ScansThatDoNotFitAreNone) {
  IvyStem stem;
  stem.bark(0, 12, 8000, 0.003);
  for (std::size_t i = 0; i < stem.points.size(); i += 2) stem.points[i].x += 0.04;
  EXPECT_FALSE(stem.found());
}

/// Visits of a scanner that drifts by up to 6 cm, each of which sees half a girth: a smaller circle touches several of their arcs, and has no
/// point within it.
TEST(CoveredBark, VisitsThatDoNotFitHaveNoOther) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    IvyStem stem;
    stem.random.seed(seed);
    const int visits = 2 + static_cast<int>(4 * stem.unit(stem.random));
    for (int visit = 0; visit < visits; ++visit) {
      const double from = 2 * kPi * stem.unit(stem.random);
      const Vec3d moved{0.12 * stem.unit(stem.random) - 0.06, 0.12 * stem.unit(stem.random) - 0.06, 0};
      for (int i = 0; i < 900; ++i) {
        const double turn = from + kPi * stem.unit(stem.random), r = kRadius + stem.normal(0.006);
        stem.points.push_back(moved + Vec3d{r * std::cos(turn), r * std::sin(turn), 1.3});
      }
    }
    for (const double start : {0.06, 0.09, 0.12, 0.15}) {
      const auto found = stem.found(start);
      if (found) {
        EXPECT_NEAR(found->circle.radius, kRadius, 0.006) << seed;
      }
    }
  }
}

TEST(CoveredBark, LeavesAloneAreNone) {
  EXPECT_FALSE(IvyStem().bark(0, 12, 10, 0.003).leaves(0, 6, 20'000, 0.03, 0.15).found());
}

TEST(StemCurve, HasTheBarkBetweenLeaves) {
  const Stem stem = IvyStem().bark(0, 12, 4000, 0.003).leaves(0, 6, 20'000, 0.03, 0.15).measure();
  ASSERT_TRUE(stem.breast_height);
  EXPECT_TRUE(stem.breast_height->covered);
  EXPECT_NEAR(stem.breast_height->circle.radius, kRadius, 0.002);
  EXPECT_LT(stem.breast_height->scatter_m, 0.006);
  int covered = 0;
  for (const StemSection& section : stem.curve) {
    if (section.ok) {
      EXPECT_NEAR(section.circle.radius, IvyStem::radius(section.axial_m), 0.01) << section.axial_m;
    }
    covered += section.covered ? 1 : 0;
  }
  EXPECT_GE(covered, 6);
  EXPECT_FALSE(is_covered(stem));
}

TEST(StemCurve, OfBareStemsIsOfAllPoints) {
  const Stem stem = IvyStem().bark(0, 12, 6000, 0.003).measure();
  ASSERT_TRUE(stem.breast_height);
  EXPECT_FALSE(stem.breast_height->covered);
  for (const StemSection& section : stem.curve) EXPECT_FALSE(section.covered);
  EXPECT_NEAR(bare_scatter(stem), 0.003, 0.001);
}

TEST(CoveredStem, LeavesBeforeAllTheBarkGiveNoDiameter) {
  IvyStem ivy;
  Stem stem = ivy.bark(2.2, 12, 2500, 0.003).leaves(0, 2.2, 20'000, 0.03, 0.15).measure();
  ASSERT_TRUE(stem.breast_height);
  EXPECT_GT(stem.breast_height->circle.radius, kRadius + 0.05);
  ASSERT_TRUE(is_covered(stem));
  leave_out_cover(stem);
  EXPECT_FALSE(stem.breast_height);
  for (const StemSection& section : stem.curve) {
    if (section.axial_m < 2) {
      EXPECT_FALSE(section.ok) << section.axial_m;
    }
    if (section.axial_m > 3 && section.axial_m < 9) {
      EXPECT_TRUE(section.ok) << section.axial_m;
    }
  }
}

TEST(CoveredStem, NoiseAndScansThatDoNotFitCoverNothing) {
  EXPECT_FALSE(is_covered(IvyStem().bark(0, 12, 6000, 0.03).measure()));
  IvyStem apart;
  apart.bark(0, 12, 6000, 0.003);
  for (std::size_t i = 0; i < apart.points.size(); i += 2) apart.points[i].x += 0.05;
  EXPECT_FALSE(is_covered(apart.measure()));
}

TEST(CoveredStem, SectionsInLeavesAreNotTrusted) {
  StemSection bark{}, ivy{};
  bark.ok = ivy.ok = bark.covered = true;
  bark.scatter_m = 0.003;
  ivy.scatter_m = 0.03;
  Stem stem{};
  stem.curve = {bark, ivy};
  distrust_cover(stem);
  EXPECT_TRUE(stem.curve[0].ok);
  EXPECT_FALSE(stem.curve[1].ok);
  stem.curve[0].covered = false;
  stem.curve[1].ok = true;
  distrust_cover(stem);
  EXPECT_TRUE(stem.curve[1].ok) << "without bark between leaves nothing tells them from noise";
}

/// A bare stem, and points before it up to `reach` from its bark, in as many directions.
bool has_foot(int directions, const std::function<double(double)>& reach) {
  IvyStem stem;
  stem.bark(0, 12, 6000, 0.003);
  const Stem measured = stem.measure();
  for (double z = 0; z < 5; z += 0.001) {
    const double turn = 2 * kPi * std::floor(directions * stem.unit(stem.random)) / directions;
    const double r = IvyStem::radius(z) + reach(z) * stem.unit(stem.random);
    for (int k = 0; k < 5; ++k) stem.points.push_back({r * std::cos(turn), r * std::sin(turn), z});
  }
  return ribbed_foot({stem.points.data(), stem.points.size()}, measured, 1.3).has_value();
}

TEST(RibbedFoot, IsInFewDirectionsAndFallsFromHalfwayUp) {
  const auto falling = [](double z) { return std::max(0.0, 0.5 * (1 - z / 4)); };
  const auto even = [](double z) { return z < 3.6 ? 0.5 : std::max(0.0, 0.5 * (4 - z) / 0.4); };
  EXPECT_TRUE(has_foot(6, falling));
  EXPECT_FALSE(has_foot(72, falling)) << "ivy that thins out upwards";
  EXPECT_FALSE(has_foot(6, even)) << "what climbs, and ends";
}

}  // namespace
