#include "ops/lad/leaf_inclinations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "ops/lad/projection_function.h"

namespace pc {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// Leaves of a density over inclinations (at most 1) and random azimuths, each counted by the views that it meets squarely enough.
std::vector<InclinationView> seen_by(std::vector<InclinationView> views,
                                     const std::function<double(double)>& density, int leaves = 100000) {
  std::uint64_t next = 0;
  const auto unit = [&] { return random_unit(7, next++); };
  for (int leaf = 0; leaf < leaves; ++leaf) {
    double t = 0;
    do t = kPi / 2 * unit();
    while (unit() > density(t));
    const double azimuth = 2 * kPi * unit();
    for (InclinationView& view : views) {
      const double cosine = std::abs(std::cos(view.zenith) * std::cos(t) +
                                     std::sin(view.zenith) * std::sin(t) * std::cos(azimuth));
      if (cosine < view.least_cosine) continue;
      view.area[std::min(kInclinationClasses - 1,
                         static_cast<std::size_t>(t / (kPi / 2) * kInclinationClasses))] += 1e-3;
    }
  }
  return views;
}

std::vector<double> found_g(const std::vector<InclinationView>& views, const std::vector<double>& zeniths) {
  JobControl control;
  OpContext ctx(control);
  return fit_inclinations(views, ctx).projections(zeniths, ctx);
}

std::vector<double> wanted_g(const LeafAngleDensity& law, const std::vector<double>& zeniths) {
  JobControl control;
  OpContext ctx(control);
  return leaf_projection(law, zeniths, ctx);
}

const std::vector<double> kZeniths{0.1, 0.5, 1, 1.5};
const std::vector<InclinationView> kLevel{{1.5, 0.4, {}}}, kSteep{{0.2, 0.4, {}}},
    kMany{{1.5, 0.4, {}}, {1.0, 0.5, {}}, {0.2, 0.6, {}}, {0.05, 0.95, {}}};

double planophile(double t) { return (1 + std::cos(2 * t)) / 2; }
double spherical(double t) { return std::sin(t); }
double two_peaks(double t) { return (1 + std::cos(4 * t)) / 2; }

TEST(FitInclinations, ViewsFromAllSidesFindAnyLaw) {
  const struct {
    double (*density)(double);
    LeafAngleLaw law;
  } cases[] = {{planophile, LeafAngleLaw::kPlanophile},
               {spherical, LeafAngleLaw::kSpherical},
               {two_peaks, LeafAngleLaw::kExtremophile}};
  for (const auto& one : cases) {
    const auto found = found_g(seen_by(kMany, one.density), kZeniths), wanted = wanted_g({one.law}, kZeniths);
    for (std::size_t i = 0; i < kZeniths.size(); ++i)
      EXPECT_NEAR(found[i] / wanted[i], 1, 0.02) << static_cast<int>(one.law) << ' ' << kZeniths[i];
  }
}

TEST(FitInclinations, WhatOneAngleDoesNotSeeIsABetaDistribution) {
  // Level beams see no leaf flatter than 24 degrees, which is half the area of planophile ones; steep ones no upright leaf.
  EXPECT_NEAR(
      found_g(seen_by(kLevel, planophile), {1.5})[0] / wanted_g({LeafAngleLaw::kPlanophile}, {1.5})[0], 1,
      0.08);
  EXPECT_NEAR(found_g(seen_by(kLevel, spherical), {1.5})[0] / 0.5, 1, 0.03);
  EXPECT_NEAR(found_g(seen_by(kSteep, spherical), {0.2})[0] / 0.5, 1, 0.06);
  JobControl control;
  OpContext ctx(control);
  EXPECT_GT(fit_inclinations(seen_by(kLevel, planophile), ctx).hardly_seen(), 0.3);
  EXPECT_LT(fit_inclinations(seen_by(kMany, planophile), ctx).hardly_seen(), 0.01);
}

TEST(FitInclinations, IsThatOfAnotherProgram) {
  // Inclinations drawn by numpy from Beta shapes 1.172 and 2.77, seen by two views; scipy's Nelder-Mead of the truncated likelihood finds
  // the shapes 1.1769 and 2.7798, whose G is this.
  const ByInclination level{0,    0,    0,    45,   1468, 2407, 3425, 3660, 3489,
                            3076, 2698, 2197, 1739, 1206, 814,  410,  165,  34};
  const ByInclination oblique{8896, 7009, 6197, 5402, 4883, 4279, 3606, 3096, 2540,
                              2147, 1662, 1278, 1011, 858,  628,  323,  135,  27};
  const auto found = found_g({{1.5, 0.4, level}, {1.0, 0.5, oblique}}, kZeniths);
  const double wanted[] = {0.8448, 0.7479, 0.4992, 0.2775};
  for (std::size_t i = 0; i < kZeniths.size(); ++i) EXPECT_NEAR(found[i] / wanted[i], 1, 0.01) << kZeniths[i];
}

TEST(FitInclinations, ClassesThatAreSeenHaveTheShareThatIsSeen) {
  // No leaf below 30 degrees, none above 60: no Beta distribution ends like that.
  const auto band = [](double t) { return t > kPi / 6 && t < kPi / 3 ? 1.0 : 0.0; };
  JobControl control;
  OpContext ctx(control);
  const ByInclination shares = fit_inclinations(seen_by(kMany, band), ctx).shares();
  for (std::size_t k = 0; k < kInclinationClasses; ++k)
    EXPECT_NEAR(shares[k], k >= 6 && k < 12 ? 1.0 / 6 : 0, 0.01) << k;
}

TEST(FitInclinations, WithoutAnyAreaLeavesAreSpherical) {
  for (const double g : found_g({}, kZeniths)) EXPECT_NEAR(g, 0.5, 1e-4);
  for (const double g : found_g(kMany, kZeniths)) EXPECT_NEAR(g, 0.5, 1e-4);
}

TEST(FitInclinations, HugeAndTinyAreasAreTheSame) {
  auto views = seen_by(kMany, planophile, 20000);
  const auto before = found_g(views, kZeniths);
  for (const double scale : {1e-12, 1e21}) {
    for (InclinationView& view : views)
      for (double& area : view.area) area *= scale;
    const auto after = found_g(views, kZeniths);
    for (std::size_t i = 0; i < kZeniths.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-9);
  }
}

TEST(FitInclinations, RefusesWhatIsNoView) {
  EXPECT_THROW(found_g({{-0.1, 0.5, {}}}, kZeniths), Error);
  EXPECT_THROW(found_g({{0.1, 1.5, {}}}, kZeniths), Error);
  EXPECT_THROW(found_g({{0.1, NAN, {}}}, kZeniths), Error);
  EXPECT_THROW(found_g({{0.1, 0.5, {-1}}}, kZeniths), Error);
  EXPECT_THROW(found_g({{0.1, 0.5, {INFINITY}}}, kZeniths), Error);
}

TEST(InclinationsOfPart, AreItsOwnWhereItSeesThem) {
  const auto views = seen_by(kMany, planophile);
  JobControl control;
  OpContext ctx(control);
  const LeafInclinations all = fit_inclinations(views, ctx);
  // All leaves of the part lie between 45 and 50 degrees, seen by the second view.
  ByInclination area{};
  area[9] = 2;
  const SeenInclinations own = inclinations_of_part(all, area, {{1, 2.0}}, 0.2),
                         as_all = inclinations_of_part(all, {}, {}, 0.2);
  EXPECT_GT(own.shares[9], 0.7);
  for (std::size_t k = 0; k < kInclinationClasses; ++k) EXPECT_EQ(as_all.shares[k], all.shares()[k]);
  EXPECT_EQ(as_all.area, 0);
  EXPECT_EQ(as_all.scatter(all.views()[0].projection, 0.2), 0);
}

/// Leaves of uniform azimuths, and which of the views they are seen by.
struct FewLeaves {
  ByInclination area{};
  std::vector<std::pair<std::size_t, double>> of_view;
  double g = 0;  ///< true mean projection
};

FewLeaves few_leaves(const LeafInclinations& all, const std::vector<InclinationView>& views, int count,
                     double leaf_area, std::uint64_t seed) {
  FewLeaves out;
  std::vector<double> seen(views.size());
  std::uint64_t next = 0;
  const auto unit = [&] { return random_unit(seed, next++); };
  for (int leaf = 0; leaf < count; ++leaf) {
    const double t = std::acos(unit()), azimuth = 2 * kPi * unit();  // spherical
    const auto k =
        std::min(kInclinationClasses - 1, static_cast<std::size_t>(t / (kPi / 2) * kInclinationClasses));
    out.g += all.views()[0].projection[k] / count;
    for (std::size_t v = 0; v < views.size(); ++v) {
      const double cosine = std::abs(std::cos(views[v].zenith) * std::cos(t) +
                                     std::sin(views[v].zenith) * std::sin(t) * std::cos(azimuth));
      if (cosine < views[v].least_cosine) continue;
      seen[v] += leaf_area, out.area[k] += leaf_area;
    }
  }
  for (std::size_t v = 0; v < views.size(); ++v) out.of_view.emplace_back(v, seen[v]);
  return out;
}

TEST(SeenInclinations, ScatterIsThatOfManyParts) {
  const double leaf_area = 0.001;
  const int leaves = 200, parts = 400;
  JobControl control;
  OpContext ctx(control);
  for (const double zenith : {0.2, 0.8, 1.5}) {
    const auto views = seen_by({{zenith, 0.4, {}}}, spherical);
    const LeafInclinations all = fit_inclinations(views, ctx);
    const ByInclination& projection = all.views()[0].projection;
    double squares = 0, expected = 0;
    for (std::uint64_t seed = 0; seed < parts; ++seed) {
      const FewLeaves few = few_leaves(all, views, leaves, leaf_area, seed);
      const SeenInclinations part = inclinations_of_part(all, few.area, few.of_view, 0.2);
      squares += std::pow(weighed(part.shares, projection) / few.g - 1, 2) / parts;
      expected += leaf_area * part.scatter(projection, 0.2) / parts;
    }
    // Against the leaves of the part, of which oblique beams see nearly all; the scatter also counts that they are what they are.
    EXPECT_GT(std::sqrt(expected / squares), 0.85) << zenith;
    EXPECT_LT(std::sqrt(expected / squares), zenith == 0.8 ? 2.1 : 1.25) << zenith;
  }
}

TEST(FitInclinations, WhatIsSupposedIsTheShareOfTheBetaDistribution) {
  JobControl control;
  OpContext ctx(control);
  const LeafInclinations level = fit_inclinations(seen_by(kLevel, planophile), ctx),
                         many = fit_inclinations(seen_by(kMany, planophile), ctx);
  EXPECT_GT(level.supposed(level.views()[0].projection), 0.15);
  EXPECT_LT(many.supposed(many.views()[0].projection), 0.01);
  EXPECT_EQ(fit_inclinations({}, ctx).seen().scatter({}, 0.01), 0);
}

}  // namespace
}  // namespace pc
