#include "ops/trees/repeated_trees.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "core/error.h"
#include "ops/trees/binomial_tail.h"

namespace {

using namespace pc;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<RepeatedStem> found_in(const std::vector<PlacedStem>& stems) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  return repeated_stems({stems.data(), stems.size()}, ctx);
}

/// Stems at random places of a square, with diameters of a forest; 1,000 points each.
std::vector<PlacedStem> forest(std::size_t n, double side, unsigned seed, double sigma_m = 0.002) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> place(0, side);
  std::lognormal_distribution<double> diameter(std::log(0.25), 0.35);
  std::vector<PlacedStem> out;
  for (std::size_t i = 0; i < n; ++i)
    out.push_back({{place(random), place(random)}, diameter(random), sigma_m, 1000});
  return out;
}

/// Stems as another scan has them: turned about the origin, then moved; 500 points each.
std::vector<PlacedStem> seen_again(const std::vector<PlacedStem>& stems, const Vec2d& by,
                                   double degrees = 0) {
  const double c = std::cos(degrees * std::numbers::pi / 180), s = std::sin(degrees * std::numbers::pi / 180);
  std::vector<PlacedStem> out = stems;
  for (PlacedStem& stem : out) {
    stem.at = {c * stem.at.x - s * stem.at.y + by.x, s * stem.at.x + c * stem.at.y + by.y};
    stem.point_count = 500;
  }
  return out;
}

std::vector<PlacedStem> both(std::vector<PlacedStem> a, const std::vector<PlacedStem>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(RepeatedTrees, ScansThatDoNotFitShowEveryTreeTwice) {
  struct Case {
    Vec2d by;
    double degrees;
  };
  for (const auto& [by, degrees] :
       {Case{{0.6, 0.4}, 0}, {{-0.02, 0.3}, 0}, {{0.4, -0.3}, 1}, {{3, -2}, 0.5}}) {
    const std::vector<PlacedStem> stems = forest(16, 30, 3);
    const auto found = found_in(both(stems, seen_again(stems, by, degrees)));
    ASSERT_EQ(found.size(), 16U) << by.x;
    for (std::size_t i = 0; i < 16; ++i)
      EXPECT_EQ(std::make_pair(found[i].repeat, found[i].original), std::make_pair(16 + i, i));
  }
}

TEST(RepeatedTrees, FarFromTheOriginAndAFewScansOfMany) {
  std::vector<PlacedStem> stems = forest(200, 50, 4);
  for (PlacedStem& stem : stems) stem.at = {stem.at.x + 476'000, stem.at.y + 5'429'000};
  const std::vector<PlacedStem> few(stems.begin(), stems.begin() + 40);
  EXPECT_EQ(found_in(both(seen_again(few, {0.5, 0.3}), stems)).size(), 40U);
}

TEST(RepeatedTrees, TwoScansThatFitNoOther) {
  const std::vector<PlacedStem> stems = forest(30, 40, 5);
  const auto found =
      found_in(both(both(stems, seen_again(stems, {0.6, 0.1})), seen_again(stems, {-0.3, 0.7})));
  EXPECT_EQ(found.size(), 60U);
  for (const RepeatedStem& one : found) EXPECT_EQ(one.original, one.repeat % 30);
  // The two repeats are found as repeats of each other first.
  std::vector<PlacedStem> third = seen_again(stems, {0.9, 0.7});
  for (PlacedStem& stem : third) stem.point_count = 100;
  const auto ranked = found_in(both(both(third, seen_again(stems, {0.6, 0.1})), stems));
  EXPECT_EQ(ranked.size(), 60U);
  for (const RepeatedStem& one : ranked) EXPECT_EQ(one.original, 60 + one.repeat % 30);
}

TEST(RepeatedTrees, StemsInEachOtherNeedNoDiameters) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> part(0.7, 1.4), angle(0, 2 * std::numbers::pi);
  const std::vector<PlacedStem> stems = forest(16, 30, 6);
  std::vector<PlacedStem> again = seen_again(stems, {0.1, 0.06});
  for (PlacedStem& stem : again) stem.diameter_m *= part(random);
  EXPECT_EQ(found_in(both(stems, again)).size(), 16U);
  // A segmentation that divides stems does so in any direction.
  again = stems;
  for (PlacedStem& stem : again) {
    const double a = angle(random);
    stem.at = {stem.at.x + 0.12 * std::cos(a), stem.at.y + 0.12 * std::sin(a)};
    stem.diameter_m *= part(random);
  }
  EXPECT_TRUE(found_in(both(stems, again)).empty());
}

TEST(RepeatedTrees, OfAPairTheOneWithADiameterStays) {
  const std::vector<PlacedStem> stems = forest(16, 30, 7);
  std::vector<PlacedStem> first = stems, again = seen_again(stems, {0.6, 0.4});
  first[5].diameter_m = kNone;
  again[9].diameter_m = kNone;
  const auto found = found_in(both(first, again));
  ASSERT_EQ(found.size(), 16U);
  EXPECT_EQ(found[0].repeat, 5U);
  EXPECT_EQ(found[0].original, 21U);
  for (std::size_t k = 1; k < found.size(); ++k) EXPECT_GE(found[k].repeat, 16U);
}

TEST(RepeatedTrees, RowsOfAPlantationAreNone) {
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal;
  for (const double part : {0., 0.05, 0.2})
    for (const double aside : {0., 0.05}) {
      std::vector<PlacedStem> stems;
      for (int i = 0; i < 300; ++i)
        stems.push_back({{2.0 * (i % 15) + aside * normal(random), 3.0 * (i / 15) + aside * normal(random)},
                         0.2 * (1 + part * normal(random)),
                         0.003,
                         1000});
      EXPECT_TRUE(found_in(stems).empty()) << part << " " << aside;
    }
}

TEST(RepeatedTrees, NeitherForestsNorTwinsOfClonesAre) {
  for (unsigned seed = 0; seed < 20; ++seed) EXPECT_TRUE(found_in(forest(300, 40, seed, 0.01)).empty());
  // Two of each clone side by side, 5 % of difference within a clone and 20 % between clones.
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  std::vector<PlacedStem> stems;
  for (int i = 0; i < 60; ++i) {
    const double clone = 0.2 * (1 + 0.2 * normal(random));
    for (int k = 0; k < 2; ++k)
      stems.push_back({{4.0 * (i % 8) + 2 * k + 0.05 * normal(random), 3.0 * (i / 8) + 0.05 * normal(random)},
                       clone * (1 + 0.05 * normal(random)),
                       0.003,
                       1000});
  }
  EXPECT_TRUE(found_in(stems).empty());
}

TEST(RepeatedTrees, AcrossAWidePlot) {
  std::mt19937_64 random(14);
  std::normal_distribution<double> normal(0, 0.02);
  const std::vector<PlacedStem> stems = forest(600, 200, 14);
  std::vector<PlacedStem> again = seen_again(stems, {0.9, 0.5}, 0.5);
  for (PlacedStem& stem : again) stem.at = {stem.at.x + normal(random), stem.at.y + normal(random)};
  EXPECT_GT(found_in(both(stems, again)).size(), 580U);
  for (const Vec2d& by : {Vec2d{0.1, 0.06}, Vec2d{0.06, 0.01}, Vec2d{-0.07, 0.1}})
    EXPECT_GT(found_in(both(stems, seen_again(stems, by))).size(), 580U);
}

TEST(RepeatedTrees, DiametersThatAreHardlyKnownAreEqualWithinATenth) {
  const std::vector<PlacedStem> stems = forest(30, 40, 15, 0.2);
  EXPECT_EQ(found_in(both(stems, seen_again(stems, {0.9, 0.5}))).size(), 30U);
}

TEST(RepeatedTrees, OrchardsWhoseTreesStandFarApart) {
  std::vector<PlacedStem> stems = forest(16, 1, 18);
  for (std::size_t i = 0; i < stems.size(); ++i)
    stems[i].at = {8.0 * static_cast<double>(i % 4), 8.0 * static_cast<double>(i / 4)};
  EXPECT_TRUE(found_in(stems).empty());
  EXPECT_EQ(found_in(both(stems, seen_again(stems, {0.6, 0.4}))).size(), 16U);
  for (PlacedStem& stem : stems) stem.diameter_m = 0.2;  // equal diameters tell nothing
  EXPECT_TRUE(found_in(both(stems, seen_again(stems, {0.6, 0.4}))).empty());
}

TEST(RepeatedTrees, MostOfThemMustBeEqual) {
  // Pairs of two: of 100, 45 have equal diameters.
  const std::vector<PlacedStem> stems = forest(100, 60, 16);
  std::vector<PlacedStem> again = seen_again(stems, {0.9, 0.5});
  for (std::size_t i = 45; i < again.size(); ++i) again[i].diameter_m *= 1.5;
  EXPECT_TRUE(found_in(both(stems, again)).empty());
  for (std::size_t i = 45; i < 70; ++i) again[i].diameter_m = stems[i].diameter_m;
  EXPECT_EQ(found_in(both(stems, again)).size(), 100U);
}

TEST(RepeatedTrees, StemsInEachOtherAreMovedAlike) {
  std::mt19937_64 random(17);
  std::normal_distribution<double> normal(0, 0.05);
  std::vector<PlacedStem> stems = forest(40, 60, 17);
  for (PlacedStem& stem : stems) stem.diameter_m += 0.5;
  std::vector<PlacedStem> again = seen_again(stems, {0.2, 0.12});
  for (PlacedStem& stem : again) stem.diameter_m *= 1.3;
  EXPECT_EQ(found_in(both(stems, again)).size(), 40U);
  for (PlacedStem& stem : again) stem.at = {stem.at.x + normal(random), stem.at.y + normal(random)};
  EXPECT_TRUE(found_in(both(stems, again)).empty());
}

TEST(RepeatedTrees, NearerThanFiveCentimetresIsNoMotion) {
  const std::vector<PlacedStem> stems = forest(40, 40, 19);
  EXPECT_TRUE(found_in(both(stems, seen_again(stems, {0.03, 0.02}))).empty());
  EXPECT_EQ(found_in(both(stems, seen_again(stems, {0.06, 0.02}))).size(), 40U);
  // Nor are such pairs evidence for a motion beyond.
  std::vector<PlacedStem> few = seen_again({stems.begin(), stems.begin() + 4}, {0.07, 0});
  EXPECT_TRUE(
      found_in(both(both(stems, seen_again({stems.begin() + 4, stems.end()}, {0.04, 0})), few)).empty());
}

TEST(RepeatedTrees, FewTreesTellNothing) {
  for (const std::size_t n : {0, 1, 2, 5}) {
    const std::vector<PlacedStem> stems = forest(n, 20, 10);
    EXPECT_TRUE(found_in(both(stems, seen_again(stems, {0.6, 0.4}))).empty());
  }
  std::vector<PlacedStem> unknown = forest(30, 20, 11);
  for (PlacedStem& stem : unknown) stem.diameter_m = stem.sigma_m = kNone;
  EXPECT_TRUE(found_in(both(unknown, seen_again(unknown, {0.6, 0.4}))).empty());
}

TEST(RepeatedTrees, WorstPlaces) {
  const PlacedStem stem{{1e15, -1e15}, 0.2, 0.002, 10};
  EXPECT_TRUE(found_in(std::vector<PlacedStem>(3000, stem)).empty());
  std::vector<PlacedStem> line, crowd = forest(3000, 1.7, 12);
  for (int i = 0; i < 1000; ++i) line.push_back({{0.06 * i, 0}, 0.2, 0.002, 10});
  EXPECT_TRUE(found_in(line).empty());
  EXPECT_TRUE(found_in(crowd).empty());
}

TEST(RepeatedTrees, StopsWhenCanceled) {
  JobControl control;
  control.cancel_requested = true;
  OpContext ctx(control, Device::kCpu, 1);
  const std::vector<PlacedStem> stems = forest(30, 20, 13);
  EXPECT_THROW(repeated_stems({stems.data(), stems.size()}, ctx), Error);
}

TEST(BinomialTail, SumsOfItsTerms) {
  EXPECT_NEAR(log_binomial_tail(20, 20, 0.1), -20, 1e-12);
  EXPECT_NEAR(log_binomial_tail(50, 1, 0.001), std::log10(1 - std::pow(0.999, 50)), 1e-12);
  // 3 or more of 5: (10 * 16 + 5 * 4 + 1) / 3125: four fifths fail.
  EXPECT_NEAR(log_binomial_tail(5, 3, 0.2), std::log10((10 * 16 + 5 * 4 + 1) / 3125.), 1e-12);
  EXPECT_EQ(log_binomial_tail(10, 2, 0.5), 0);
  EXPECT_EQ(log_binomial_tail(10, 2, 1), 0);
  EXPECT_EQ(log_binomial_tail(10, 2, 0), -HUGE_VAL);
  EXPECT_EQ(log_binomial_tail(0, 0, 0.5), 0);
  EXPECT_NEAR(log_choose(49, 6), std::log10(13983816.), 1e-12);
}

}  // namespace
