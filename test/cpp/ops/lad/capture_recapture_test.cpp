#include "ops/lad/capture_recapture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "support/cancel.h"
#include "support/viewed_leaves.h"

namespace pc {
namespace {

using test::LeafScan;
using test::SquareLeaf;

const VoxelBox kGrid{{0, 0, 0}, {3, 3, 3}, 3, 3, 3, 0, {}, {}};
constexpr double kHalf_rad = 0.4, kStep_rad = 0.003;
const double kFacing = 1, kSpherical = 0.5;

std::vector<LeafScan> from_around(const std::vector<SquareLeaf>& leaves, std::size_t count) {
  std::vector<LeafScan> out;
  for (std::size_t k = 0; k < count; ++k) {
    const double turn = 0.3 + 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(count);
    out.push_back(
        test::scanned(leaves, {3.5 * std::cos(turn), 3.5 * std::sin(turn), 0.4}, kHalf_rad, kStep_rad));
  }
  return out;
}

CaptureRecaptureResult measured(std::vector<LeafScan>& scans, const double& g, int threads = 2,
                                const VoxelBox& grid = kGrid, const Vec3d& shift = {0, 0, 0}) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  std::vector<ViewedScan> views;
  for (LeafScan& scan : scans) views.push_back(scan.scan(shift));
  return capture_recapture(views, grid, {{&g, 1}, 0}, ctx);
}

/// Scanners on both sides of a leaf of 0.5 m that faces them; 1.2 m from the first, `wood` hides it.
std::vector<LeafScan> both_sides(const std::vector<SquareLeaf>& wood) {
  std::vector<SquareLeaf> scene{{{0, 0, 0}, {1, 0, 0}, 0.5, 0.4}};
  scene.insert(scene.end(), wood.begin(), wood.end());
  return {test::scanned(scene, {-2, 0, 0}, kHalf_rad, kStep_rad),
          test::scanned(scene, {2, 0, 0}, kHalf_rad, kStep_rad)};
}

TEST(CaptureRecapture, ALeafThatTwoSeeHasItsArea) {
  auto scans = both_sides({});
  const auto found = measured(scans, kFacing);
  EXPECT_NEAR(found.seen_by_m2[1], 0.25, 0.004);
  EXPECT_LT(found.seen_by_m2[0], 0.001);
  EXPECT_NEAR(found.leaf_area_m2, found.seen_m2, 1e-4);
  EXPECT_TRUE(std::isnan(found.lower_m2));  // two scanners have no interval
}

TEST(CaptureRecapture, WhatIsHiddenFromOneCountsOnceAndTellsOfWhatNoneSees) {
  // Seen from (-2, 0, 0) the wood at x = -1 covers the half of the leaf with y > 0.
  SquareLeaf leaf{{0, 0, 0}, {1, 0, 0}, 0.5, 0};
  const SquareLeaf wood{{-1, 0.25, 0}, {1, 0, 0}, 0.5, 0, true};
  const std::vector<SquareLeaf> scene{leaf, wood};
  std::vector<LeafScan> scans{test::scanned(scene, {-2, 0, 0}, kHalf_rad, kStep_rad),
                              test::scanned(scene, {2, 0, 0}, kHalf_rad, kStep_rad)};
  const auto found = measured(scans, kFacing);
  EXPECT_NEAR(found.seen_by_m2[0], 0.125, 0.005);
  EXPECT_NEAR(found.seen_by_m2[1], 0.125, 0.005);
  const double once = found.seen_by_m2[0], twice = found.seen_by_m2[1];
  EXPECT_NEAR(found.leaf_area_m2, once + twice + 0.5 * once * once / (2 * twice), 1e-12);
}

TEST(CaptureRecapture, WithoutAPlaceThatTwoSeeNothingIsKnown) {
  auto scans = both_sides({{{-1, 0, 0}, {1, 0, 0}, 0.9, 0, true}});
  const auto found = measured(scans, kFacing);
  EXPECT_NEAR(found.seen_m2, 0.25, 0.004);
  EXPECT_TRUE(std::isnan(found.leaf_area_m2));
}

TEST(CaptureRecapture, WhatHidesAPlaceBetweenCoarseBeamsCountsWhereLeavesAreNarrow) {
  // Beams of the second scanner are 10 cm apart at the leaf; wood hides all of it 6 cm before.
  const std::vector<SquareLeaf> scene{{{0, 0, 0}, {1, 0, 0}, 0.5, 0},
                                      {{0.06, 0, 0}, {1, 0, 0}, 0.9, 0, true}};
  std::vector<LeafScan> scans{test::scanned(scene, {-2, 0, 0}, kHalf_rad, kStep_rad),
                              test::scanned(scene, {2, 0, 0}, kHalf_rad, 0.05)};
  const auto by = [&](double leaf_width) {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 2);
    const std::vector<ViewedScan> views{scans[0].scan(), scans[1].scan()};
    return capture_recapture(views, kGrid, {{&kFacing, 1}, 0, leaf_width}, ctx).seen_by_m2;
  };
  EXPECT_NEAR(by(0.05)[0], 0.25, 0.004);
  EXPECT_LT(by(0.05)[1], 0.001);
  EXPECT_NEAR(by(0)[1], 0.125, 0.01) << "without a width a leaf may reach as far as the beams are apart";
  EXPECT_NEAR(by(1)[1], 0.125, 0.01);
}

TEST(CaptureRecapture, ABallOfLeavesAtRandomHasTheirArea) {
  for (const std::uint64_t seed : {1U, 2U}) {
    const auto leaves = test::ball_of_leaves(4000, seed);
    auto scans = from_around(leaves, 4);
    const auto found = measured(scans, kSpherical);
    EXPECT_NEAR(found.leaf_area_m2 / test::area_of(leaves), 1, 0.04) << seed;
    EXPECT_LT(found.seen_m2, 0.99 * found.leaf_area_m2) << seed;
    EXPECT_LT(found.lower_m2, test::area_of(leaves)) << seed;
    EXPECT_GT(found.upper_m2, test::area_of(leaves)) << seed;
  }
}

TEST(CaptureRecapture, ScansThatDoNotFitAndLeavesThatMovedAgreeLess) {
  const auto leaves = test::ball_of_leaves(3000, 1);
  auto scans = from_around(leaves, 4);
  EXPECT_GT(measured(scans, kSpherical).agreement, 1.1);
  const auto beside = [&](double by) {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 2);
    std::vector<ViewedScan> views;
    for (std::size_t k = 0; k < scans.size(); ++k)
      views.push_back(scans[k].scan({k % 2 == 0 ? by : -by, k < 2 ? by : -by, by}));
    return capture_recapture(views, kGrid, {{&kSpherical, 1}, 0}, ctx).agreement;
  };
  EXPECT_GT(beside(0.001), 1.1);  // beams are 1 cm apart
  EXPECT_LT(beside(0.01), 0.9);
  EXPECT_LT(beside(0.05), 0.3);
  // Each scan sees the leaves elsewhere.
  std::vector<LeafScan> windy;
  for (std::size_t k = 0; k < 4; ++k) {
    auto moved = leaves;
    for (std::size_t i = 0; i < moved.size(); ++i) {
      const double turn = 2.4 * static_cast<double>(i) + static_cast<double>(k);
      moved[i].centre = moved[i].centre + Vec3d{0.03 * std::cos(turn), 0.03 * std::sin(turn), 0};
    }
    windy.push_back(from_around(moved, 4)[k]);
  }
  EXPECT_LT(measured(windy, kSpherical).agreement, 0.9);
  auto one = both_sides({{{-1, 0, 0}, {1, 0, 0}, 0.9, 0, true}});
  EXPECT_TRUE(std::isnan(measured(one, kFacing).agreement)) << "no place that two should see";
}

TEST(CaptureRecapture, DependsOnNeitherThreadsNorTheOrderOfTheRows) {
  const auto leaves = test::ball_of_leaves(500, 4);
  auto scans = from_around(leaves, 3);
  const auto one = measured(scans, kSpherical, 1), four = measured(scans, kSpherical, 4);
  EXPECT_EQ(one.leaf_area_m2, four.leaf_area_m2);
  EXPECT_EQ(one.seen_by_m2, four.seen_by_m2);
  EXPECT_EQ(one.lower_m2, four.lower_m2);
  for (LeafScan& scan : scans) {
    std::reverse(scan.positions.begin(), scan.positions.end());
    std::reverse(scan.is_miss.begin(), scan.is_miss.end());
    std::reverse(scan.is_leaf.begin(), scan.is_leaf.end());
  }
  EXPECT_EQ(one.leaf_area_m2, measured(scans, kSpherical).leaf_area_m2);
}

TEST(CaptureRecapture, IsTheSameFarFromTheOriginAndWithEveryRowTwice) {
  const auto leaves = test::ball_of_leaves(500, 5);
  auto scans = from_around(leaves, 3);
  const auto near = measured(scans, kSpherical);
  const Vec3d shift{5e6, -4e6, 1e3};
  VoxelBox grid = kGrid;
  grid.center = shift;
  EXPECT_NEAR(measured(scans, kSpherical, 2, grid, shift).leaf_area_m2, near.leaf_area_m2,
              1e-3 * near.leaf_area_m2);
  for (LeafScan& scan : scans) {
    const auto twice = [](auto& values) {
      const auto copy = values;
      values.insert(values.end(), copy.begin(), copy.end());
    };
    twice(scan.positions), twice(scan.is_miss), twice(scan.is_leaf);
  }
  EXPECT_EQ(measured(scans, kSpherical).leaf_area_m2, near.leaf_area_m2);
}

TEST(CaptureRecapture, RowsThatAreNoBeamsAndScansWithFewDoNoHarm) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  LeafScan one;
  one.origin = {-2, 0, 0};
  one.positions = {{0, 0, 0}, {kNan, 0, 0}, {-2, 0, 0}, {1e7, 1e7, 0}};
  one.is_miss = {0, 0, 0, 0};
  one.is_leaf = {1, 1, 1, 1};
  LeafScan none;
  none.origin = {2, 0, 0};
  std::vector<LeafScan> scans{one, none};
  const auto found = measured(scans, kFacing);
  EXPECT_EQ(found.hit_count, 1U);
  EXPECT_EQ(found.seen_m2, 0);  // a beam alone has no solid angle
}

TEST(CaptureRecapture, IsCanceledInTimeAndNeedsNoMoreMemoryThanItSays) {
  const auto leaves = test::ball_of_leaves(2000, 6);
  auto scans = from_around(leaves, 4);
  std::vector<ViewedScan> views;
  std::vector<std::uint64_t> rows;
  for (LeafScan& scan : scans) {
    views.push_back(scan.scan());
    rows.push_back(scan.positions.size());
  }
  const auto run = [&](OpContext& ctx) { capture_recapture(views, kGrid, {{&kSpherical, 1}, 0}, ctx); };
  test::expect_cancel_in_phase("Triangulating", run);
  test::expect_cancel_in_phase("Comparing views", run);
  const std::uint64_t before = bulk_bytes_in_use();
  reset_bulk_bytes_peak();
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  run(ctx);
  EXPECT_LT(bulk_bytes_peak() - before, capture_recapture_bytes(rows));
}

TEST(CaptureRecapture, RefusesOneScanAndNumbersOutOfRange) {
  auto scans = both_sides({});
  const double zero = 0;
  EXPECT_THROW(measured(scans, zero), Error);
  scans.pop_back();
  EXPECT_THROW(measured(scans, kFacing), Error);
}

}  // namespace
}  // namespace pc
