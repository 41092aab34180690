#include "ops/qsm/phyllotaxis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <random>

#include "ops/qsm/qsm_checks.h"
#include "support/planted_shoots.h"

namespace {

using namespace pc;
using test::planted_model;
using test::PlantedPattern;

PhyllotaxisResult find(const Qsm& qsm) {
  JobControl control;
  OpContext ctx(control);
  check_qsm(qsm, ctx);
  return phyllotaxis(qsm, ctx);
}

/// Five patterns as they grow: opposite and decussate leaves in pairs.
const std::vector<PlantedPattern> kPatterns{{.angle_deg = 137.5},
                                            {.angle_deg = 144},
                                            {.angle_deg = 150},
                                            {.angle_deg = 180, .per_node = 2},
                                            {.angle_deg = 90, .per_node = 2}};

TEST(Phyllotaxis, FindsPlantedPatternsOfOneShoot) {
  for (PlantedPattern pattern : kPatterns) {
    for (const bool left : {false, true}) {
      pattern.left = left;
      const PhyllotaxisResult found = find(planted_model(pattern, 1));
      EXPECT_EQ(found.angle_deg, pattern.angle_deg);
      EXPECT_EQ(found.parent_count, 1u);
      EXPECT_GT(found.confidence, 0.85) << pattern.angle_deg;
    }
  }
}

TEST(Phyllotaxis, FindsThemDespiteScatterAndUnbrokenBuds) {
  for (PlantedPattern pattern : kPatterns) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      pattern.scatter_deg = 5;
      pattern.broken = 0.7;
      pattern.seed = seed;
      const PhyllotaxisResult found = find(planted_model(pattern, 8));
      EXPECT_EQ(found.angle_deg, pattern.angle_deg) << "seed " << seed;
    }
  }
}

TEST(Phyllotaxis, OneLeafPerNodeInTwoRanksCountsAsOpposite) {
  EXPECT_EQ(find(planted_model({.angle_deg = 180}, 3)).angle_deg, 180);
}

TEST(Phyllotaxis, RandomAzimuthsHaveLittleConfidence) {
  double most = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    most = std::max(
        most, find(planted_model({.angle_deg = 137.5, .scatter_deg = 1000, .seed = seed}, 40)).confidence);
  EXPECT_LT(most, 0.1);
}

TEST(Phyllotaxis, DoesNotDependOnTheOrderOfShoots) {
  Qsm qsm = planted_model({.angle_deg = 144, .scatter_deg = 8, .broken = 0.8}, 6);
  const PhyllotaxisResult before = find(qsm);
  std::mt19937_64 random(5);
  std::shuffle(qsm.shoots.begin(), qsm.shoots.end(), random);
  std::shuffle(qsm.cylinders.begin(), qsm.cylinders.end(), random);
  const PhyllotaxisResult after = find(qsm);
  EXPECT_EQ(after.angle_deg, before.angle_deg);
  EXPECT_NEAR(after.confidence, before.confidence, 1e-12);
}

TEST(Phyllotaxis, NothingToMeasure) {
  const PhyllotaxisResult empty = find({});
  EXPECT_EQ(empty.angle_deg, 137.5);
  EXPECT_EQ(empty.confidence, 0);
  EXPECT_EQ(empty.parent_count, 0u);
  Qsm flat = planted_model({.angle_deg = 90, .nodes = 4}, 1);
  for (QsmCylinder& one : flat.cylinders) one.end = one.start;  // no cylinder has a direction
  EXPECT_EQ(find(flat).parent_count, 0u);
}

/// Resultant of the phases modulo an angle, as the contract states it.
double resultant(double planted_deg, double candidate_deg, int nodes) {
  std::complex<double> sum = 0;
  for (int k = 0; k < nodes; ++k) {
    const double azimuth = std::fmod(k * planted_deg, 360.0);
    sum += std::polar(1.0, 2 * std::numbers::pi * std::fmod(azimuth, candidate_deg) / candidate_deg);
  }
  return std::abs(sum) / nodes;
}

TEST(Phyllotaxis, AzimuthsModuloTheAngleDoNotFindSpirals) {
  EXPECT_NEAR(resultant(90, 90, 60), 1, 1e-9);
  EXPECT_NEAR(resultant(180, 180, 60), 1, 1e-9);
  for (const double spiral : {137.5, 144.0, 150.0}) EXPECT_LT(resultant(spiral, spiral, 60), 0.3) << spiral;
}

}  // namespace
