#include "ops/trees/stem_girth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "ops/trees/stem_curve.h"

namespace {

using namespace pc;
constexpr double kPi = std::numbers::pi;
constexpr double kPopulation = 0.0075;  ///< mean square of e for ratios of axes spread evenly over 1 to 1.15

/// Errors of the diameter at breast height of simulated stems.
struct Score {
  double squares = 0, relative = 0, covered = 0, count = 0;
  double rmse() const { return std::sqrt(squares / count); }
  double relative_rmse() const { return std::sqrt(relative / count); }
  double coverage() const { return covered / count; }
};

/// A tapering, leaning stem with bark of 1 cm, of which an arc is seen.
Score score_of(double arc_deg, bool is_elliptic, double ellipticity_square, int count) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> unit;
  Score score;
  const double spacing = arc_deg > 180 ? 0.03 : 0.02;
  for (int k = 0; k < count; ++k) {
    const double r = 0.075 + 0.275 * unit(random), taper = 0.005 + 0.005 * unit(random);
    const double ratio = is_elliptic ? 1 + 0.15 * unit(random) : 1, turn = 2 * kPi * unit(random);
    const double h = (ratio - 1) * (ratio - 1) / ((ratio + 1) * (ratio + 1));
    const double mean = (ratio + 1) / 2 * (1 + h / 4 + h * h / 64);  // girth of the ellipse / (2 pi)
    const double a = ratio / mean, b = 1 / mean;
    const double lean = 15 * kPi / 180 * unit(random), azimuth = 2 * kPi * unit(random);
    const double first = 2 * kPi * unit(random);
    const Vec3d w{std::sin(lean) * std::cos(azimuth), std::sin(lean) * std::sin(azimuth), std::cos(lean)};
    Vec3d u = Vec3d{1, 0, 0} - w * w.x;
    u = u * (1 / std::sqrt(dot(u, u)));
    const Vec3d v = cross(w, u);
    std::vector<Vec3d> points;
    std::vector<double> heights;
    const auto total = static_cast<int>(arc_deg / 360 * 2 * kPi * r * 3 / (spacing * spacing));
    for (int i = 0; i < total; ++i) {
      const double s = 3 * unit(random), angle = first + arc_deg / 180 * kPi * unit(random);
      const double shape = a * b / std::hypot(b * std::cos(angle - turn), a * std::sin(angle - turn));
      const double at = (r + taper * (1.3 - s)) * shape + 0.01 * normal(random);
      const Vec3d p = w * s + u * (at * std::cos(angle)) + v * (at * std::sin(angle));
      if (p.z < 0) continue;
      points.push_back(p);
      heights.push_back(p.z);
    }
    JobControl control;
    OpContext ctx(control, Device::kCpu, 1);
    const GroundHeights none;
    const TreeGround ground({points.data(), points.size()}, {heights.data(), heights.size()}, none, ctx);
    const StemParams params{CircleSearch::kRansac,
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
                            ellipticity_square,
                            static_cast<std::uint64_t>(k)};
    const Stem stem = measure_stem({points.data(), points.size()}, ground, params, ctx);
    if (!stem.breast_height) continue;
    const double truth = 2 * (r + taper * (1.3 - stem.breast_height->axial_m));
    const double error = 2 * stem.breast_height->circle.radius - truth;
    score.count += 1;
    score.squares += error * error;
    score.relative += error * error / (truth * truth);
    score.covered += std::abs(error) <= 1.96 * 2 * stem.breast_height->circle.radius_sigma ? 1 : 0;
  }
  EXPECT_EQ(score.count, count);
  return score;
}

// Coverage of 95 % among 25 stems: within three standard deviations of chance from .82 on.
TEST(StemGirth, FullView) {
  for (const bool is_elliptic : {false, true}) {
    const Score score = score_of(360, is_elliptic, kPopulation, 25);
    EXPECT_LT(score.rmse(), 0.004) << is_elliptic;
    EXPECT_GE(score.coverage(), 0.82) << is_elliptic;
  }
}

TEST(StemGirth, RoundStemsOnAnArc) {
  const Score third = score_of(120, false, 0, 25), quarter = score_of(90, false, 0, 25);
  EXPECT_LT(third.rmse(), 0.010);
  EXPECT_LT(quarter.rmse(), 0.020);
  EXPECT_GE(third.coverage(), 0.82);
  EXPECT_GE(quarter.coverage(), 0.82);
}

TEST(StemGirth, EllipticStemsOnAnArcHaveIntervalsThatCoverThem) {
  const Score third = score_of(120, true, kPopulation, 25), quarter = score_of(90, true, kPopulation, 25);
  EXPECT_LT(third.relative_rmse(), 0.09);
  EXPECT_LT(quarter.relative_rmse(), 0.12);
  EXPECT_GE(third.coverage(), 0.82);
  EXPECT_GE(quarter.coverage(), 0.82);
}

/// The lengths of stem to each side that a fit asks for, of a round stem with no bark.
std::vector<double> lengths_for(double arc_deg) {
  std::vector<double> asked;
  const StemStretch stretch = [&](const PlainCircle&, double half) {
    asked.push_back(half);
    std::vector<Vec3d> points;
    for (double s = 1.3 - half; s <= 1.3 + half; s += 0.02) {
      for (double angle = 0; angle < arc_deg; angle += 3)
        points.push_back({0.1 * std::cos(angle * kPi / 180), 0.1 * std::sin(angle * kPi / 180), s});
    }
    return points;
  };
  const CircleFitParams params{CircleSearch::kRansac, 0.02, 0.02, 1.5, 8, 0, kPopulation};
  const auto girth = measure_stem_girth(stretch, {{0, 0}, 0.1}, {{0, 0}, 0.1}, 1.3, params);
  EXPECT_TRUE(girth && std::abs(girth->radius - 0.1) < 0.002) << arc_deg;
  return asked;
}

TEST(StemGirth, TheLessIsSeenTheLongerTheStretch) {
  EXPECT_EQ(lengths_for(360), (std::vector<double>{1.6, 0.15}));
  EXPECT_EQ(lengths_for(200), (std::vector<double>{1.6, 0.4}));
  EXPECT_EQ(lengths_for(90), (std::vector<double>{1.6}));
}

}  // namespace
