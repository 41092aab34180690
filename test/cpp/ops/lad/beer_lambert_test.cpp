#include "ops/lad/beer_lambert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ops/lad/chord_quadrature.h"
#include "support/beams.h"

namespace pc {
namespace {

/// Sums of a voxel whose beams have these chords (shares of the diagonal) and pass with `transmitted` of their number.
VoxelSums voxel_of(const std::vector<double>& chords, double transmission) {
  VoxelSums sums{};
  for (const double u : chords) {
    for (std::size_t m = 0; m < kChordMoments; ++m) sums.moment[m] += std::pow(u, static_cast<double>(m));
  }
  sums.transmitted = sums.transmitted_squared = transmission * static_cast<double>(chords.size());
  return sums;
}

double mean_passed(const std::vector<double>& chords, double k) {
  double sum = 0;
  for (const double u : chords) sum += std::exp(-k * u);
  return sum / static_cast<double>(chords.size());
}

/// The chords of parallel beams through a unit cube, of beams that cut corners, and of one length.
std::vector<std::vector<double>> chord_sets() {
  std::vector<std::vector<double>> sets(5);
  for (std::uint64_t i = 0; i < 4000; ++i) {
    sets[0].push_back(test::in_range(1, i, 0, 1));
    sets[1].push_back(0.57 + 0.01 * random_unit(2, i));
    sets[2].push_back(std::pow(random_unit(3, i), 3));
    sets[3].push_back(i % 10 == 0 ? 0.01 : 0.6);
    sets[4].push_back(0.577);
  }
  return sets;
}

TEST(ChordQuadrature, HasTheMomentsOfTheChords) {
  for (const auto& chords : chord_sets()) {
    const VoxelSums sums = voxel_of(chords, 1);
    const ChordQuadrature q = chord_quadrature(sums.moment);
    double weights = 0;
    for (std::size_t i = 0; i < q.count; ++i) {
      weights += q.weight[i];
      EXPECT_GT(q.weight[i], 0);
    }
    EXPECT_NEAR(weights, 1, 1e-12);
    for (std::size_t m = 1; m < 2 * q.count; ++m) {
      double moment = 0;
      for (std::size_t i = 0; i < q.count; ++i)
        moment += q.weight[i] * std::pow(q.chord[i], static_cast<double>(m));
      EXPECT_NEAR(moment, sums.moment[m] / sums.moment[0], 1e-9) << m;
    }
    for (const double k : {0.1, 1.0, 3.0}) {
      double passed = 0;
      for (std::size_t i = 0; i < q.count; ++i) passed += q.weight[i] * std::exp(-k * q.chord[i]);
      EXPECT_NEAR(passed, mean_passed(chords, k), 1e-6) << k;
    }
  }
}

TEST(BeerLambert, SolvesForTheDensityThatMadeTheTransmission) {
  const double diagonal = 1.7, g = 0.45;
  for (const auto& chords : chord_sets()) {
    for (const double a : {0.001, 0.05, 0.5, 2.0, 4.5, 5.5, 9.0}) {
      const double p = mean_passed(chords, a * g * diagonal);
      const double near = a < 5 ? 2e-4 : 1e-3;  // of the quadrature
      EXPECT_NEAR(solve_beer_lambert(voxel_of(chords, p), g, diagonal), a, near * a + 1e-9) << a;
    }
  }
}

TEST(BeerLambert, DenseVoxelsAreAsDenseAsTheirTransmissionTells) {
  const std::vector<double> chords(2000, 0.5);
  const auto solved = [&](double p, double g) { return solve_beer_lambert(voxel_of(chords, p), g, 2); };
  EXPECT_EQ(solved(1, 0.5), 0);
  EXPECT_NEAR(solved(std::exp(-2.0), 0.5), 4, 1e-9);
  EXPECT_NEAR(solved(std::exp(-2.6), 0.5), 5.2, 1e-9) << "5 is no limit";
  EXPECT_NEAR(solved(std::exp(-6.0), 0.5), 12, 1e-9);
}

TEST(BeerLambert, AVoxelThatNoBeamPassesHasTheDensityThatItsBeamsCanTell) {
  const std::vector<double> chords(100, 0.5);
  const auto solved = [&](double p, double g) { return solve_beer_lambert(voxel_of(chords, p), g, 2); };
  const double least = std::log(202.0) / 0.5;  // less than one beam of 202 passes
  EXPECT_NEAR(solved(0, 0.5), least, 1e-9);
  EXPECT_NEAR(solved(1e-3, 0.5), least, 1e-9);
  EXPECT_NEAR(solved(0.01, 0.5), std::log(100.0) / 0.5, 1e-9);
  EXPECT_NEAR(solved(0, 0.01), 100, 1e-9) << "(1 - P) / (d G): the solution lies beyond 100";
  EXPECT_NEAR(solve_beer_lambert(voxel_of({0.5}, 0), 0.5, 2), std::log(4.0) / 0.5, 1e-9) << "one beam";
}

BeerLambertParams params_of(std::uint32_t nx, std::uint32_t ny, std::uint32_t nz) {
  return {{1, 1, 1}, nx, ny, nz, 5, 0, 0};
}

BeerLambertResult invert(const std::vector<VoxelSums>& sums, const std::vector<double>& g,
                         const BeerLambertParams& params) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  return beer_lambert({reinterpret_cast<const double*>(sums.data()), sums.size() * kVoxelSumFields},
                      test::span_of(g), params, ctx);
}

TEST(BeerLambert, StatesOfVoxels) {
  const std::vector<double> many(200, 0.5), few(4, 0.5);
  std::vector<VoxelSums> sums{voxel_of(many, 0.5), voxel_of(few, 0.5), VoxelSums{}, voxel_of(many, 0.5)};
  BeerLambertParams params = params_of(4, 1, 1);
  params.occlusion_threshold_m = 100;
  const auto found = invert(sums, {0.5, 0.5, 0.5, 0}, params);
  EXPECT_EQ(found.state[0], kVoxelProbed | kVoxelSolved | kVoxelTrusted);
  EXPECT_EQ(found.state[1], kVoxelProbed | kVoxelOccluded);
  EXPECT_EQ(found.state[2], 0);  // never probed: not occluded
  EXPECT_EQ(found.state[3], kVoxelProbed);
  const double path = 0.5 * std::sqrt(3.0), a = std::log(2) / (0.5 * path);
  EXPECT_NEAR(found.lad[0], a, 1e-9);
  EXPECT_EQ(found.lad[3], 0);
  EXPECT_TRUE(std::isnan(found.variance[1]));
  EXPECT_NEAR(found.variance[0], 0.25 / 200 / std::pow(0.5 * path * 0.5, 2), 1e-12);
  EXPECT_NEAR(found.totals.leaf_area_m2, a, 1e-9);
  EXPECT_EQ(found.totals.occluded_count, 1U);
  EXPECT_EQ(found.totals.group_count, 1U);
  EXPECT_NEAR(found.totals.group_half_width, 1.96 * std::sqrt(found.variance[0]), 1e-12);
  params.occlusion_threshold_m = 200 * path + 1e-6;
  const auto dark = invert(sums, {0.5}, params).totals;
  EXPECT_EQ(dark.occluded_count, 3U);
  EXPECT_EQ(dark.leaf_area_m2, 0);
  EXPECT_NEAR(dark.occluded_leaf_area_m2, 2 * a, 1e-9) << "of the two that enough beams reach";
  EXPECT_EQ(found.totals.occluded_leaf_area_m2, 0);
}

TEST(BeerLambert, WidthOfElementsAddsToTheVarianceAndNotToTheValue) {
  const std::vector<VoxelSums> sums{voxel_of(std::vector<double>(400, 0.5), 0.6)};
  BeerLambertParams params = params_of(1, 1, 1);
  const auto points = invert(sums, {0.5}, params);
  params.element_width_m = 0.1;
  const auto leaves = invert(sums, {0.5}, params);
  EXPECT_EQ(points.lad[0], leaves.lad[0]);
  const double l = std::numbers::pi * 0.01 / 8, path = 0.5 * std::sqrt(3.0);
  const double added = 0.23 * l * 0.6 * std::pow(0.4, 1.9 - 2.3 * l) / std::pow(0.6 * path * 0.5, 2);
  EXPECT_NEAR(leaves.variance[0] - points.variance[0], added, 1e-12);
}

TEST(BeerLambert, ErrorOfAMeasuredGWidensIntervals) {
  const std::vector<VoxelSums> sums{voxel_of(std::vector<double>(400, 0.5), 0.6),
                                    voxel_of(std::vector<double>(400, 0.5), 0.7)};
  BeerLambertParams params = params_of(2, 1, 1);
  params.element_width_m = 0.1;
  const auto known = invert(sums, {0.5}, params);
  EXPECT_NEAR(known.error[1], std::sqrt(known.variance[1]), 1e-15);
  EXPECT_EQ(known.common_g_error, 0);
  const std::vector<double> scatter{0.4, 0.9};
  params.measured = {test::span_of(scatter), 0.1, 0.02};
  const auto found = invert(sums, {0.5}, params);
  const double leaf = std::numbers::pi * 0.01 / 4, common = std::hypot(std::sqrt(0.1 * leaf), 0.02);
  EXPECT_NEAR(found.common_g_error, common, 1e-12);
  double sum = 0, variance = 0;
  for (std::size_t v = 0; v < 2; ++v) {
    EXPECT_EQ(found.lad[v], known.lad[v]);
    EXPECT_EQ(found.variance[v], known.variance[v]);
    const double own = found.variance[v] + std::pow(found.lad[v], 2) * scatter[v] * leaf;
    EXPECT_NEAR(found.error[v], std::sqrt(own + std::pow(found.lad[v] * common, 2)), 1e-12);
    sum += found.lad[v];
    variance += own;
  }
  EXPECT_NEAR(found.totals.group_half_width, 1.96 * std::sqrt(variance + std::pow(sum * common, 2)) / 2,
              1e-12);
  params.element_width_m = 0;  // leaves are points: only what all voxels have in common
  const auto points = invert(sums, {0.5}, params);
  EXPECT_NEAR(points.error[1], std::hypot(std::sqrt(points.variance[1]), 0.02 * points.lad[1]), 1e-12);
  const std::vector<double> few{0.4};
  params.measured.scatter = test::span_of(few);
  EXPECT_THROW(invert(sums, {0.5}, params), Error);
  params.measured = {test::span_of(scatter), -0.1, 0.02};
  EXPECT_THROW(invert(sums, {0.5}, params), Error);
  params.measured = {test::span_of(scatter), 0.1, NAN};
  EXPECT_THROW(invert(sums, {0.5}, params), Error);
}

TEST(BeerLambert, FewLeavesWidenIntervalsAsTheyAreSeen) {
  const std::vector<VoxelSums> sums{voxel_of(std::vector<double>(400, 0.5), 0.6),
                                    voxel_of(std::vector<double>(400, 0.5), 0.6),
                                    voxel_of(std::vector<double>(400, 0.5), 1)};
  BeerLambertParams params = params_of(3, 1, 1);
  params.element_width_m = 0.1;
  const auto plain = invert(sums, {0.5}, params);
  // One direction and even pulses that all reach it; half of them, crowded; no leaf.
  const std::vector<double> views{1, 1, 400, 0.5, 1.2, 800, 1, 1, 400};
  params.few = {test::span_of(views), 1.0 / 3};
  const auto found = invert(sums, {0.5}, params);
  const double leaves = plain.lad[0] / (std::numbers::pi * 0.01 / 4);
  params.few = {};
  params.element_width_m = 0;
  const auto points = invert(sums, {0.5}, params);  // for where leaves lie, the larger term holds
  const auto added = [&](std::size_t v) {
    return (std::pow(found.error[v], 2) - points.variance[v]) / std::pow(plain.lad[0], 2);
  };
  params.element_width_m = 0.1;
  params.few = {test::span_of(views), 1.0 / 3};
  EXPECT_NEAR(added(0), 1.0 / 3 / leaves, 1e-9);
  EXPECT_NEAR(added(1), (1.2 * (1 + 0.5 / 3) - 1) / (leaves / 2), 1e-9);
  EXPECT_NEAR(added(2), 0, 1e-12);
  const std::vector<double> scatter{0, 0, 0};
  params.measured = {test::span_of(scatter), 0, 0, 0.1};  // of which the triangles have measured a part
  EXPECT_NEAR(std::pow(invert(sums, {0.5}, params).error[0], 2) - points.variance[0],
              std::pow(plain.lad[0], 2) * (1.0 / 3 - 0.1) / leaves, 1e-9);
  params.few.spread = 0.1;  // as large as what is measured
  EXPECT_NEAR(std::pow(invert(sums, {0.5}, params).error[0], 2), plain.variance[0], 1e-12);
  params.few.spread = -1;
  EXPECT_THROW(invert(sums, {0.5}, params), Error);
  params.few = {test::span_of(scatter), 0};
  EXPECT_THROW(invert(sums, {0.5}, params), Error);
}

/// A voxel of 1 m3 with leaves of density `a`: half of its beams have G `steep`, the others `level`.
struct TwoAngles {
  VoxelSums chords, optical;
};
TwoAngles two_angles(double a, double steep, double level) {
  std::vector<double> chords, scaled;
  double passed = 0;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const double g = i % 2 == 0 ? steep : level, u = test::in_range(6, i, 0.1, 1);
    chords.push_back(u);
    scaled.push_back(u * g / std::max(steep, level));
    passed += std::exp(-a * g * u * std::sqrt(3.0)) / 4000;
  }
  return {voxel_of(chords, passed), voxel_of(scaled, passed)};
}

TEST(BeerLambert, EachBeamWithItsOwnG) {
  const double a = 3;
  const TwoAngles beams = two_angles(a, 0.8, 0.2);
  const std::vector<VoxelSums> sums{beams.chords}, optical{beams.optical};
  const std::vector<double> greatest{0.8};
  BeerLambertParams params = params_of(1, 1, 1);
  EXPECT_LT(invert(sums, {0.5}, params).lad[0], 0.9 * a);
  params.optical = {{reinterpret_cast<const double*>(optical.data()), kVoxelSumFields},
                    test::span_of(greatest)};
  EXPECT_NEAR(invert(sums, {0.5}, params).lad[0], a, 2e-4 * a);
  // Chords, not optical ones, tell what is occluded.
  params.occlusion_threshold_m = 0.999 * beams.chords.moment[1] * std::sqrt(3.0);
  EXPECT_EQ(invert(sums, {0.5}, params).totals.occluded_count, 0U);
  params.occlusion_threshold_m *= 1.002;
  EXPECT_EQ(invert(sums, {0.5}, params).totals.occluded_count, 1U);
}

TEST(BeerLambert, WoodKeepsItsOwnProjectionWhereLeavesHaveThatOfEachBeam) {
  const TwoAngles beams = two_angles(2, 0.8, 0.2);
  const std::vector<VoxelSums> sums{beams.chords}, optical{beams.optical};
  const std::vector<double> greatest{0.8};
  const std::vector<std::uint32_t> some{3}, none{0};
  BeerLambertParams params = params_of(1, 1, 1);
  params.labels = {test::span_of(some), test::span_of(none), 0.25};
  const double all_wood = invert(sums, {0.5}, params).wad[0];
  const OpticalSums each{{reinterpret_cast<const double*>(optical.data()), kVoxelSumFields},
                         test::span_of(greatest)};
  params.optical = each;
  EXPECT_EQ(invert(sums, {0.5}, params).wad[0], all_wood);
  params.labels = {test::span_of(some), test::span_of(some), 0.25};
  const auto half = invert(sums, {0.5}, params);
  EXPECT_NEAR(half.lad[0], 1, 1e-3);
  EXPECT_NEAR(half.wad[0], 1 * 0.5 / 0.25, 1e-2);  // half of the interception a g = 2 * 0.5
}

TEST(BeerLambert, RefusesOpticalSumsThatDoNotFit) {
  const TwoAngles beams = two_angles(2, 0.8, 0.2);
  const std::vector<VoxelSums> sums{beams.chords}, optical{beams.optical, beams.optical};
  const std::vector<double> greatest{0.8}, above{1.2};
  BeerLambertParams params = params_of(1, 1, 1);
  const auto* const data = reinterpret_cast<const double*>(optical.data());
  params.optical = {{data, 2 * kVoxelSumFields}, test::span_of(greatest)};
  EXPECT_THROW(invert(sums, {0.5}, params), Error);
  params.optical = {{data, kVoxelSumFields}, test::span_of(above)};
  EXPECT_THROW(invert(sums, {0.5}, params), Error);
  params.optical = {{data, kVoxelSumFields}, {}};
  EXPECT_THROW(invert(sums, {0.5}, params), Error);
}

TEST(BeerLambert, OneGPerLayer) {
  const std::vector<VoxelSums> sums(4, voxel_of(std::vector<double>(50, 0.5), 0.6));
  const auto found = invert(sums, {0.25, 0.5}, params_of(2, 1, 2));
  EXPECT_NEAR(found.lad[0], 2 * found.lad[2], 1e-9);
  EXPECT_EQ(found.lad[0], found.lad[1]);
  EXPECT_EQ(test::code_of([&] {
              invert(sums, {0.25, 0.5, 0.5}, params_of(2, 1, 2));
            }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(test::code_of([&] { invert(sums, {1.5}, params_of(2, 1, 2)); }), ErrorCode::kInvalidArgument);
}

TEST(BeerLambert, BeamsThatEndedBeforeAVoxelDoNotSolveIt) {
  // Ten thousand ended beams whose shares before the voxel were 1 in the mean leave +35 or -35 of noise.
  for (const double left : {35.0, -35.0}) {
    VoxelSums sums{};
    for (std::size_t m = 0; m < kChordMoments; ++m)
      sums.moment[m] = left * std::pow(0.5, static_cast<double>(m));
    sums.transmitted = 0.4 * left;
    const ReachSums reach{1225, 700};
    Column<double> column(kVoxelSumFields), reach_column(kReachSumFields);
    std::memcpy(column.view().data, &sums, sizeof(sums));
    std::memcpy(reach_column.view().data, &reach, sizeof(reach));
    BeerLambertParams params = params_of(1, 1, 1);
    JobControl control;
    OpContext ctx(control, Device::kCpu, 1);
    const double g = 0.5;
    params.reach = reach_column.view();
    const BeerLambertResult found = beer_lambert(column.view(), {&g, 1}, params, ctx);
    EXPECT_EQ(found.state[0], kVoxelProbed | kVoxelOccluded) << left;
    EXPECT_EQ(found.totals.occluded_count, 1U);
    EXPECT_EQ(found.lad[0], 0);
  }
}

TEST(BeerLambert, WoodTakesItsShareOfTheInterception) {
  const std::vector<VoxelSums> sums(3, voxel_of(std::vector<double>(200, 0.5), 0.5));
  const std::vector<std::uint32_t> wood{30, 40, 0}, leaf{70, 0, 0};
  BeerLambertParams params = params_of(3, 1, 1);
  const double a = invert(sums, {0.4}, params).lad[0];
  params.labels = {test::span_of(wood), test::span_of(leaf), 0.25};
  const auto found = invert(sums, {0.4, 0, 0.4}, params);
  EXPECT_NEAR(found.lad[0], 0.7 * a, 1e-12);
  EXPECT_NEAR(found.wad[0], 0.3 * a * 0.4 / 0.25, 1e-12);
  EXPECT_EQ(found.lad[1], 0);  // wood alone: solved without a G of leaves
  EXPECT_NEAR(found.wad[1], a * 0.4 / 0.25, 1e-9);
  EXPECT_TRUE((found.state[1] & kVoxelSolved) != 0);
  EXPECT_NEAR(found.lad[2], a, 1e-12);  // no label: leaf
  EXPECT_EQ(found.wad[2], 0);
  EXPECT_NEAR(found.totals.leaf_area_m2, 1.7 * a, 1e-9);
  EXPECT_NEAR(found.totals.wood_area_m2, found.wad[0] + found.wad[1], 1e-12);
  EXPECT_EQ(invert(sums, {0.4}, params_of(3, 1, 1)).wad.size(), 0U);
  for (const WoodHits& wrong :
       {WoodHits{test::span_of(wood), {}, 0.25}, WoodHits{test::span_of(wood), test::span_of(leaf), 0}}) {
    params.labels = wrong;
    EXPECT_EQ(test::code_of([&] { invert(sums, {0.4}, params); }), ErrorCode::kInvalidArgument);
  }
}

TEST(BeerLambert, TheVarianceOfTheLeavesIncludesThatOfTheirShare) {
  // Each beam is intercepted with one chance, each hit is wood with another.
  const double intercepted = 0.4, part = 0.3;
  const std::size_t seeds = 4000, beams = 300;
  double sum = 0, squares = 0, told = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    std::uint32_t wood = 0, leaf = 0;
    for (std::uint64_t i = 0; i < beams; ++i) {
      if (random_unit(seed, 2 * i) >= intercepted) continue;
      ++(random_unit(seed, 2 * i + 1) < part ? wood : leaf);
    }
    const double passed = 1 - static_cast<double>(wood + leaf) / static_cast<double>(beams);
    BeerLambertParams params = params_of(1, 1, 1);
    const std::vector<std::uint32_t> wood_hits{wood}, leaf_hits{leaf};
    params.labels = {test::span_of(wood_hits), test::span_of(leaf_hits), 0.25};
    const auto found = invert({voxel_of(std::vector<double>(beams, 0.5), passed)}, {0.5}, params);
    sum += found.lad[0];
    squares += found.lad[0] * found.lad[0];
    told += found.variance[0];
  }
  const double mean = sum / static_cast<double>(seeds);
  const double seen = squares / static_cast<double>(seeds) - mean * mean;
  EXPECT_NEAR(told / static_cast<double>(seeds) / seen, 1, 0.06);
  const double path = 0.5 * std::sqrt(3.0);
  EXPECT_NEAR(mean, (1 - part) * -std::log(1 - intercepted) / (0.5 * path), 0.01);
}

}  // namespace
}  // namespace pc
