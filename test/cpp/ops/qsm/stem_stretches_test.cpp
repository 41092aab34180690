#include "ops/qsm/stem_stretches.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace pc {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr FitCylindersParams kFit{1.5, 1.5, true};

/// A stem of 4 m that tapers and bends, seen on an arc from the side of +x.
struct HalfStem {
  std::vector<Vec3d> points;
  std::vector<QsmCylinder> seeds, fitted;
  FittedSurface surface;

  static double radius_at(double z) { return 0.05 - 0.004 * z; }

  HalfStem(double arc_deg, double noise_m, double sag_m, std::uint64_t seed, unsigned per_piece = 18) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit;
    std::normal_distribution<double> normal;
    constexpr int kPieces = 32;
    for (int i = 0; i < kPieces; ++i) {
      Vec3d mean{0, 0, 0};
      for (unsigned k = 0; k < per_piece; ++k) {
        const double z = 4.0 * (i + unit(random)) / kPieces;
        const double turn = (unit(random) - 0.5) * arc_deg * kPi / 180;
        const double r = radius_at(z) + noise_m * normal(random);
        points.push_back({axis_x(z, sag_m) + r * std::cos(turn), r * std::sin(turn), z});
        mean = mean + points.back() * (1.0 / per_piece);
      }
      const double low = 4.0 * i / kPieces, high = 4.0 * (i + 1) / kPieces;
      seeds.push_back({i, {mean.x, mean.y, low}, {mean.x, mean.y, high}, 0.03, i - 1, 0, 0});
    }
    refit();
  }
  static double axis_x(double z, double sag_m) { return sag_m * (1 - (z - 2) * (z - 2) / 4); }

  void refit() {
    JobControl control;
    OpContext ctx(control);
    fitted = seeds;
    surface = fit_cylinders(fitted, {points.data(), points.size()}, kFit, ctx);
  }
  std::vector<StretchRadius> stretches(int threads = 1) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, threads);
    return stem_stretches(seeds, fitted, surface, {points.data(), points.size()}, ctx);
  }
};

TEST(StemStretches, AStemSeenFromOneSideHasItsRadius) {
  double stretch_mean = 0, fit_mean = 0, count = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const HalfStem stem(140, 0.004, 0, seed);
    const std::vector<StretchRadius> found = stem.stretches();
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double truth = HalfStem::radius_at(0.125 * (static_cast<double>(i) + 0.5));
      ASSERT_TRUE(std::isfinite(found[i].radius_m)) << i;
      EXPECT_LT(std::abs(found[i].radius_m - truth), 3 * found[i].sigma_m + 0.001) << seed << ' ' << i;
      EXPECT_GE(found[i].sharing, 12) << "1.6 m to a side";
      EXPECT_GT(found[i].oval_m, 0);
      EXPECT_LT(found[i].oval_m, found[i].sigma_m);
      stretch_mean += std::abs(found[i].radius_m / truth - 1);
      fit_mean += std::abs(stem.fitted[i].radius / truth - 1);
      count += 1;
    }
  }
  EXPECT_LT(stretch_mean / count, 0.06);
  EXPECT_GT(fit_mean / count, 0.12) << "each cylinder by itself";
}

TEST(StemStretches, ABendIsNoTaper) {
  const HalfStem stem(140, 0.001, 0.05, 7, 60);
  const std::vector<StretchRadius> found = stem.stretches();
  for (std::size_t i = 4; i + 4 < found.size(); ++i)
    EXPECT_NEAR(found[i].radius_m, HalfStem::radius_at(0.125 * (static_cast<double>(i) + 0.5)), 0.004) << i;
}

TEST(StemStretches, WhatWasSeenAllAroundKeepsItsOwn) {
  const HalfStem stem(360, 0.002, 0, 1, 80);
  for (const StretchRadius& one : stem.stretches()) EXPECT_TRUE(std::isnan(one.radius_m));
}

TEST(StemStretches, PointsOnNoSurfaceTellNothing) {
  HalfStem stem(140, 0.004, 0, 3);
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(-0.2, 0.2);
  for (Vec3d& p : stem.points) p = {unit(random), unit(random), p.z};
  stem.refit();
  for (const StretchRadius& one : stem.stretches()) EXPECT_TRUE(std::isnan(one.radius_m));
}

// Two columns of a coarse scan: circles of any width pass through both, the smallest of them half as wide as the stem.
TEST(StemStretches, TwoColumnsTellNothing) {
  HalfStem stem(140, 0.002, 0, 3);
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, 0.002);
  for (std::size_t i = 0; i < stem.points.size(); ++i) {
    Vec3d& p = stem.points[i];
    const double r = HalfStem::radius_at(p.z), y = (i % 2 == 0 ? 0.65 : -0.65) * r;
    p = {std::sqrt(r * r - y * y) + normal(random), y + normal(random), p.z};
  }
  stem.refit();
  for (const StretchRadius& one : stem.stretches()) EXPECT_TRUE(std::isnan(one.radius_m));
}

TEST(StemStretches, BranchesAndShortStemsHaveNone) {
  HalfStem branch(140, 0.004, 0, 1);
  for (QsmCylinder& c : branch.seeds) c.rank = 1;
  for (const StretchRadius& one : branch.stretches()) EXPECT_TRUE(std::isnan(one.radius_m));
  HalfStem stem(140, 0.004, 0, 1);
  stem.seeds.resize(7);
  stem.refit();
  for (const StretchRadius& one : stem.stretches()) EXPECT_TRUE(std::isnan(one.radius_m));
}

TEST(StemStretches, TheSameForAnyThreadCount) {
  const HalfStem stem(150, 0.004, 0.02, 9);
  const auto one = stem.stretches(1), four = stem.stretches(4);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].radius_m, four[i].radius_m);
    EXPECT_EQ(one[i].sigma_m, four[i].sigma_m);
  }
}

TEST(StemStretches, WorstInput) {
  JobControl control;
  OpContext ctx(control);
  const FittedSurface none{{}, {}, {}, {}, {}, {0}, {}};
  EXPECT_TRUE(stem_stretches({}, {}, none, {}, ctx).empty());
  HalfStem stem(140, 0, 0, 1);
  for (QsmCylinder& c : stem.seeds) c.end = c.start;  // no direction
  stem.refit();
  for (const StretchRadius& found : stem.stretches()) EXPECT_TRUE(std::isnan(found.radius_m));
}

}  // namespace
}  // namespace pc
