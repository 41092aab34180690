#include "ops/trees/stem_trust.h"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace pc;

TEST(StemTrust, CirclesThatSayNothingAreNoStems) {
  const auto stem = [](double radius, bool few_points, double arc) {
    Stem s{};
    s.breast_height.emplace();
    s.breast_height->circle.radius = radius;
    s.breast_height->circle.arc_coverage = arc;
    s.breast_height->few_points = few_points;
    return s;
  };
  EXPECT_FALSE(is_no_stem(Stem{}, 20, 1));
  EXPECT_FALSE(is_no_stem(stem(0.1, true, 0.1), 20, 0.049));
  EXPECT_TRUE(is_no_stem(stem(0.1, false, 1), 20, 0.051));
  EXPECT_FALSE(is_no_stem(stem(0.1, false, 1), 20, std::nan(""))) << "the error is not known";
  EXPECT_TRUE(is_no_stem(stem(0.8, true, 0.5), 7.3, 0.05));
  EXPECT_TRUE(is_no_stem(stem(0.8, false, 0.25), 7.3, 0.05));
  EXPECT_FALSE(is_no_stem(stem(0.4, false, 0.4), 2, 0.02)) << "a stump seen from one side";
  EXPECT_FALSE(is_no_stem(stem(0.8, true, 0.1), 8.1, 0.05));
  // Four points of an airborne scan (MLBS_16 of ../shared/data/trees_als_idtrees).
  Stem rough = stem(0.914, true, 0.11);
  rough.breast_height->scatter_m = 0.22;
  EXPECT_TRUE(is_no_stem(rough, 15.7, 0.232));
  rough.breast_height->scatter_m = 0.05;
  EXPECT_FALSE(is_no_stem(rough, 15.7, 0.18)) << "noise";
}

TEST(StemTrust, CirclesThatAreOneOfManyAreNoStems) {
  const auto stem = [](bool few_points, const CircleEvidence& evidence, double radius = 0.1) {
    Stem s{};
    s.breast_height.emplace();
    s.breast_height->circle.radius = radius;
    s.breast_height->circle.arc_coverage = 0.4;
    s.breast_height->few_points = few_points;
    s.breast_height->evidence = evidence;
    return s;
  };
  const auto none = [](const Stem& s) { return is_no_stem(s, 20, 0.01); };
  EXPECT_FALSE(none(stem(true, {})));
  EXPECT_TRUE(none(stem(false, {.share = 0.75, .firm_deg = 50})));
  EXPECT_FALSE(none(stem(false, {.share = 0.75, .firm_deg = 60}))) << "seen over more";
  EXPECT_FALSE(none(stem(false, {.share = 0.85, .firm_deg = 50}))) << "nothing but stem";
  EXPECT_TRUE(none(stem(false, {.firm_deg = 30}, 0.55)));
  EXPECT_FALSE(none(stem(false, {.firm_deg = 30}, 0.45))) << "as slender as trees are";
  EXPECT_TRUE(none(stem(true, {.chance = -4})));
  EXPECT_FALSE(none(stem(false, {.chance = -4}))) << "many points";
  EXPECT_TRUE(none(stem(true, {.one_sided = 0.1, .two_sided = 0.7})));
  EXPECT_FALSE(none(stem(true, {.one_sided = 0.6, .two_sided = 0.7}))) << "one side";
  EXPECT_TRUE(none(stem(true, {.share = 0.7}, 0.55)));
}

// Saplings of a generated understorey, whose leaves gave diameters ten times the true ones, and stems of clouds cut off at 3 m.
TEST(StemTrust, CirclesThroughSaplingsAreNoStems) {
  const auto circle = [](double diameter, double arc, std::size_t inliers, std::size_t points) {
    Stem stem{};
    stem.breast_height = StemSection{};
    stem.breast_height->circle.radius = diameter / 2;
    stem.breast_height->circle.arc_coverage = arc;
    stem.breast_height->circle.inlier_count = inliers;
    stem.breast_height->point_count = points;
    return stem;
  };
  EXPECT_TRUE(is_no_stem(circle(0.577, 0.56, 71, 328), 3.6, 0.057));
  EXPECT_TRUE(is_no_stem(circle(1.231, 0.19, 10, 11), 8, 0.217)) << "its error is large";
  EXPECT_FALSE(is_no_stem(circle(0.398, 0.22, 10, 10), 3, 0.015))
      << "cut off at 3 m, all points on the circle";
  EXPECT_FALSE(is_no_stem(circle(0.3, 0.9, 200, 600), 4, 0.02)) << "seen all around, below branches";
  EXPECT_FALSE(is_no_stem(circle(0.3, 0.4, 50, 100), 6.1, 0.02)) << "as slender as trees are";
}

TEST(BreastHeightSigma, GrowsWithTheScatterOfSections) {
  Stem stem{};
  EXPECT_TRUE(std::isnan(breast_height_sigma(stem)));
  const auto section = [](double axial, double radius) {
    StemSection s{};
    s.axial_m = axial;
    s.circle.radius = radius;
    s.circle.radius_sigma = 0.001;
    s.ok = true;
    return s;
  };
  stem.breast_height = section(1.3, 0.15);
  EXPECT_EQ(breast_height_sigma(stem), 0.002);
  for (int i = 1; i <= 5; ++i) stem.curve.push_back(section(0.5 * i, 0.15 - 0.005 * (0.5 * i - 1.3)));
  EXPECT_NEAR(breast_height_sigma(stem), 0.002, 1e-12);
  stem.curve[1].circle.radius += 0.02;
  stem.curve[3].circle.radius -= 0.02;
  EXPECT_NEAR(breast_height_sigma(stem), 0.006, 1e-12);
  stem.breast_height->scatter_m = kMostScatter;
  EXPECT_NEAR(breast_height_sigma(stem), 0.006, 1e-12);
  stem.breast_height->scatter_m = 0.03;
  EXPECT_NEAR(breast_height_sigma(stem), std::hypot(0.006, 0.03), 1e-12);
}

}  // namespace
