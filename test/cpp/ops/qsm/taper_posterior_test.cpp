#include "ops/qsm/taper_posterior.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace pc {
namespace {

constexpr std::size_t kPieces = 48;
constexpr double kPiece = 0.08;  // metres

/// A stem without branches in the model; the law loses a fifth of the radius at every eighth piece, as whorls make it.
struct Stem {
  std::vector<QsmCylinder> cylinders;
  TaperPrior prior;
  std::vector<Belief> measured;

  /// `radius_of`: ln of the true radius by piece.
  template <class RadiusOf>
  explicit Stem(const RadiusOf& radius_of) {
    for (std::size_t i = 0; i < kPieces; ++i) {
      const double z = kPiece * static_cast<double>(i);
      cylinders.push_back({static_cast<std::int64_t>(i),
                           {0, 0, z},
                           {0, 0, z + kPiece},
                           0,
                           static_cast<std::int64_t>(i) - 1,
                           0,
                           0});
      prior.log_radius.push_back(law(i));
      prior.spread.push_back(0.1);
      prior.growth_m.push_back(10);
      prior.law_of.push_back(0);
      measured.push_back({radius_of(i), 0.03 * 0.03});
    }
  }
  static double law(std::size_t i) { return std::log(0.1) - 0.2 * static_cast<double>(i / 8); }
  /// Largest relative error where all pieces were measured.
  template <class RadiusOf>
  double worst(const RadiusOf& radius_of) const {
    const TaperPosterior found = taper_posterior(cylinders, measured, prior);
    double worst = 0;
    for (std::size_t i = 0; i < kPieces; ++i)
      worst = std::max(worst, std::fabs(std::expm1(found.deviation[i].mean + law(i) - radius_of(i))));
    return worst;
  }
};

TEST(TaperPosterior, AStemThatTapersEvenlyPastItsWhorlsKeepsItsMeasuredRadii) {
  const auto even = [](std::size_t i) { return std::log(0.1) - 0.2 / 8 * (static_cast<double>(i) - 3.5); };
  EXPECT_LT(Stem(even).worst(even), 0.04);
}

TEST(TaperPosterior, AStemThatFollowsItsLawKeepsTheStepsAtWhorls) {
  EXPECT_LT(Stem(&Stem::law).worst(&Stem::law), 1e-6);
}

TEST(TaperPosterior, WhatWasNotMeasuredAboveAWhorlFollowsTheLaw) {
  const auto thicker = [](std::size_t i) { return Stem::law(i) + 0.05; };
  Stem stem(thicker);
  for (std::size_t i = 24; i < 28; ++i) stem.measured[i] = {};
  const TaperPosterior found = taper_posterior(stem.cylinders, stem.measured, stem.prior);
  for (std::size_t i = 24; i < 28; ++i) EXPECT_NEAR(found.deviation[i].mean, 0.05, 0.01);
}

}  // namespace
}  // namespace pc
