#include "ops/dem/scan_heights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "core/error.h"

namespace pc {
namespace {

/// Ground on a slope, seen by scans that lie higher or lower.
struct Ground {
  std::vector<Vec3d> points;
  std::vector<std::uint16_t> scans;
  RasterFrame frame{-3, 5, 0.25, 80, 60};

  Ground(const std::vector<std::pair<std::uint16_t, double>>& lifts, double noise_m, int count = 20'000) {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> x(-3, 17), y(5, 20);
    std::normal_distribution<double> noise(0, noise_m);
    for (const auto& [scan, lift] : lifts)
      for (int i = 0; i < count; ++i) {
        const double px = x(random), py = y(random);
        points.push_back({px, py, 4000 + 0.3 * px - 0.1 * py + lift + noise(random)});
        scans.push_back(scan);
      }
  }

  std::vector<ScanHeight> heights(int threads = 1, const std::vector<std::uint8_t>& skip = {}) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, threads);
    Column<std::uint16_t> column(scans.size());
    std::copy(scans.begin(), scans.end(), column.view().begin());
    return scan_heights({points.data(), points.size()}, {skip.data(), skip.size()},
                        AnyColumn(std::move(column)), frame, ctx);
  }
};

TEST(ScanHeights, AreThoseOfTheScans) {
  const auto found = Ground({{3, 0.0}, {7, 0.05}, {20, -0.1}}, 0.01).heights();
  ASSERT_EQ(found.size(), 3U);
  const double wanted[3] = {0.05, -0.1, -0.15};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_LT(found[i].scan_a, found[i].scan_b);
    EXPECT_EQ(found[i].cells, 40U * 30);  // of half a metre
    EXPECT_NEAR(found[i].z_m, wanted[i], 0.002);
    EXPECT_LT(found[i].spread_m, 0.05);
  }
}

/// A slope of 45 degrees of which each scan sees its own side of every stripe of 0.5 m more densely: the mean places of their points lie
/// 0.2 m apart.
TEST(ScanHeights, OnASteepSlopeScansThatSeeItFromTwoSidesFit) {
  Ground ground({}, 1);
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> part(0, 1), y(5, 20);
  std::normal_distribution<double> noise(0, 0.003);
  for (const std::uint16_t scan : {1, 2})
    for (int i = 0; i < 20'000; ++i) {
      const double in_stripe = 0.5 * (scan == 1 ? std::sqrt(part(random)) : 1 - std::sqrt(part(random)));
      const double x = -3 + 0.5 * std::floor(40 * part(random)) + in_stripe;
      ground.points.push_back({x, y(random), 4000 + x + noise(random) + (scan == 2 ? 0.02 : 0)});
      ground.scans.push_back(scan);
    }
  const auto found = ground.heights();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].z_m, 0.02, 0.002);
  EXPECT_LT(found[0].spread_m, 0.01);
}

/// Terraces of 5 m with walls of 1.8 m, which have points 0.2 m wide. The first scan stands low: beyond its own terrace it sees walls
/// alone. The second stands high, sees no wall, and of the lowest terrace two rows of blocks.
Ground terraces(double lift) {
  Ground ground({}, 1);
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> part(0, 1), y(5, 20);
  std::normal_distribution<double> noise(0, 0.003);
  for (int step = 0; step < 4; ++step)
    for (int i = 0; i < 15'000; ++i) {
      const double from = -3 + 5 * step, foot = 4000 + 1.8 * step, s = part(random);
      if (step == 0) {
        ground.points.push_back({from + 5 * s, y(random), foot + noise(random)});
        ground.scans.push_back(1);
      } else if (i % 3 == 0) {  // the wall below this terrace, up to its edge
        ground.points.push_back({from - 0.2 + 0.2 * s, y(random), foot - 1.8 + 1.8 * s + noise(random)});
        ground.scans.push_back(1);
      }
      const double wide = step == 0 ? 1 : 4.8;
      ground.points.push_back({from + wide * part(random), y(random), foot + noise(random) + lift});
      ground.scans.push_back(2);
    }
  return ground;
}

TEST(ScanHeights, OfStepsThatScansSeeFromTwoSidesNothingIsCompared) {
  for (const double lift : {0.0, 0.03, 1.0}) {
    const auto found = terraces(lift).heights();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NEAR(found[0].z_m, lift, 0.002);
    EXPECT_LT(found[0].spread_m, 0.01);
  }
}

/// What is known of scans that lie far above each other, and do not cover the same places equally.
TEST(ScanHeights, OfLargeLiftsAreFound) {
  Ground ground({{1, 0}}, 0.01, 20'000);
  const Ground other({{2, 2.5}}, 0.01, 20'000);
  for (std::size_t i = 0; i < other.points.size(); ++i)
    if (std::fmod(other.points[i].x + 100, 4) < 2.5 && other.points[i].y < 5 + 15 * (double(i % 97) / 97)) {
      ground.points.push_back(other.points[i]);
      ground.scans.push_back(2);
    }
  const auto found = ground.heights();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].z_m, 2.5, 0.01);
}

TEST(ScanHeights, TheSameForAnyOrderOfRowsAndThreads) {
  Ground ground({{1, 0}, {2, 0.02}}, 0.02);
  const auto one = ground.heights();
  std::vector<std::size_t> order(ground.points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin() + 1, order.end(), std::mt19937_64(3));
  const Ground before = ground;
  for (std::size_t i = 0; i < order.size(); ++i) {
    ground.points[i] = before.points[order[i]];
    ground.scans[i] = before.scans[order[i]];
  }
  const auto other = ground.heights(4);
  ASSERT_EQ(one.size(), 1U);
  ASSERT_EQ(other.size(), 1U);
  EXPECT_EQ(one[0].z_m, other[0].z_m);
  EXPECT_EQ(one[0].spread_m, other[0].spread_m);
}

TEST(ScanHeights, LeavesOutWhatIsSkippedNotFiniteOrOutside) {
  Ground ground({{1, 0}, {2, 0.03}}, 0.003);
  std::vector<std::uint8_t> skip(ground.points.size(), 0);
  const auto add = [&](const Vec3d& p, bool skipped) {
    ground.points.push_back(p);
    ground.scans.push_back(2);
    skip.push_back(skipped ? 1 : 0);
  };
  for (int i = 0; i < 3000; ++i) add({0.005 * i, 10, 9000}, true);
  add({std::nan(""), 10, 0}, false);
  add({1e7, 10, 0}, false);
  const auto found = ground.heights(2, skip);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].z_m, 0.03, 0.002);
}

TEST(ScanHeights, FewPlacesOneScanAndManySayNothing) {
  EXPECT_TRUE(Ground({{1, 0}}, 0.01).heights().empty());
  EXPECT_TRUE(Ground({{1, 0}, {2, 0}}, 0.01, 20).heights().empty());
  std::vector<std::pair<std::uint16_t, double>> many;
  for (std::uint16_t scan = 0; scan < 70; ++scan) many.emplace_back(scan, 0);
  EXPECT_TRUE(Ground(many, 0.01, 500).heights().empty());
  Ground wrong({{1, 0}, {2, 0}}, 0.01, 100);
  wrong.scans.pop_back();
  EXPECT_THROW(wrong.heights(), Error);
}

}  // namespace
}  // namespace pc
