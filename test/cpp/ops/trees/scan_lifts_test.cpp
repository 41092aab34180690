#include "ops/trees/scan_lifts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/error.h"

namespace {

using namespace pc;

struct Ground {
  std::vector<Vec3d> xyz;
  std::vector<std::uint8_t> ground;
  std::vector<double> scan;
};

/// A slope of 20 m that three scans see, 0, 6 and -3 cm high with 5 mm of noise, and trees that do not count.
Ground three_scans() {
  Ground out;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> side(0, 20);
  std::normal_distribution<double> noise(0, 0.005);
  const double lifts[3] = {0, 0.06, -0.03};
  for (int i = 0; i < 60'000; ++i) {
    const int scan = i % 3;
    const double x = side(random), y = side(random);
    out.xyz.push_back({x, y, 100 + 0.3 * x + lifts[scan] + noise(random)});
    out.ground.push_back(1);
    out.scan.push_back(scan + 1);
    if (i % 5 > 0) continue;
    out.xyz.push_back({x, y, 105.0 + scan});
    out.ground.push_back(2);
    out.scan.push_back(scan + 1);
  }
  return out;
}

std::vector<ScanLift> lifts_of(const Ground& ground, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  Column<std::uint8_t> classes(ground.ground.size());
  Column<double> scans(ground.scan.size());
  std::copy(ground.ground.begin(), ground.ground.end(), classes.view().data);
  std::copy(ground.scan.begin(), ground.scan.end(), scans.view().data);
  const AnyColumn a(std::move(classes)), b(std::move(scans));
  return scan_lifts({ground.xyz.data(), ground.xyz.size()}, {}, a, b, ctx);
}

TEST(ScanLifts, EachScanHasItsHeightAboveTheMean) {
  const auto lifts = lifts_of(three_scans());
  ASSERT_EQ(lifts.size(), 3);
  const double expected[3] = {-0.01, 0.05, -0.04};
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(lifts[k].scan, k + 1);
    EXPECT_NEAR(lifts[k].z_m, expected[k], 0.001);
  }
  const auto one = lifts_of(three_scans(), 1);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(one[k].z_m, lifts[k].z_m);
}

/// A filter of the ground takes the upper part of what lies higher for plants.
TEST(ScanLifts, GroundThatAFilterHasCutOffIsMeasuredWhole) {
  Ground ground;
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> side(0, 20);
  std::normal_distribution<double> noise(0, 0.01);
  for (int i = 0; i < 60'000; ++i) {
    const double x = side(random), y = side(random), off = (i % 2 == 0 ? 0 : 0.1) + noise(random);
    ground.xyz.push_back({x, y, 0.2 * x + off});
    ground.ground.push_back(off < 0.1 ? 1 : 2);
    ground.scan.push_back(i % 2);
  }
  const auto lifts = lifts_of(ground);
  ASSERT_EQ(lifts.size(), 2);
  EXPECT_NEAR(lifts[1].z_m - lifts[0].z_m, 0.1, 0.001);  // .092 by the ground points alone
}

TEST(ScanLifts, FarAwayAndWithPointsThatAreNotFinite) {
  Ground ground = three_scans();
  for (Vec3d& p : ground.xyz) p = p + Vec3d{5e6, -4e6, 0};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ground.xyz.push_back({nan, 0, 0});
  ground.xyz.push_back({0, 0, nan});
  for (int i = 0; i < 2; ++i) {
    ground.ground.push_back(1);
    ground.scan.push_back(nan);
  }
  const auto lifts = lifts_of(ground);
  ASSERT_EQ(lifts.size(), 3);
  EXPECT_NEAR(lifts[1].z_m, 0.05, 0.001);
}

TEST(ScanLifts, LargeCloudsFitTheRaster) {
  for (const double extent : {999.0, 2'000.0, 1e7}) {
    Ground ground = three_scans();
    for (const double x : {0.0, extent})
      for (const double y : {0.0, extent}) {
        ground.xyz.push_back({x, y, 100});
        ground.ground.push_back(1);
        ground.scan.push_back(1);
      }
    EXPECT_NO_THROW(lifts_of(ground)) << extent;
    if (extent < 1e6) {
      EXPECT_EQ(lifts_of(ground).size(), 3) << extent;
    }
  }
}

TEST(ScanLifts, PairsAreWeighedAndPartsKeepTheirMean) {
  // 1, 2 and 3 are seen together, 7 and 8 elsewhere; the pair 1, 3 contradicts the others a little.
  const auto lifts = scan_lifts(
      {{1, 2, 1000, 0.04, 0.01}, {2, 3, 1000, 0.02, 0.01}, {1, 3, 10, 0.2, 0.01}, {7, 8, 50, -0.1, 0.01}});
  ASSERT_EQ(lifts.size(), 5);
  EXPECT_NEAR(lifts[0].z_m + lifts[1].z_m + lifts[2].z_m, 0, 1e-12);
  EXPECT_NEAR(lifts[1].z_m - lifts[0].z_m, 0.04, 0.002);
  EXPECT_NEAR(lifts[3].z_m, 0.05, 1e-12);
  EXPECT_NEAR(lifts[4].z_m, -0.05, 1e-12);
}

TEST(ScanLifts, GroundThatFitsIsNotMoved) {
  EXPECT_TRUE(scan_lifts({}).empty());
  EXPECT_TRUE(scan_lifts({{1, 2, 1000, 0.008, 0.01}}).empty()) << "as scans that fit";
  EXPECT_TRUE(scan_lifts({{1, 2, 40, 0.05, 0.2}}).empty()) << "chance";
  EXPECT_FALSE(scan_lifts({{1, 2, 4000, 0.05, 0.2}}).empty());
  Ground ground = three_scans();
  std::fill(ground.scan.begin(), ground.scan.end(), 4);
  EXPECT_TRUE(lifts_of(ground).empty()) << "one scan";
  std::fill(ground.ground.begin(), ground.ground.end(), 2);
  EXPECT_TRUE(lifts_of(ground).empty()) << "no ground";
}

/// The floor of a forest that scans see at these heights, and trees.
Ground floor_of(const std::vector<double>& heights, const std::vector<int>& shares) {
  Ground out;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> side(0, 20);
  std::normal_distribution<double> noise(0, 0.004);
  for (std::size_t scan = 0; scan < heights.size(); ++scan)
    for (int i = 0; i < 60'000 * shares[scan]; ++i) {
      const double x = side(random), y = side(random);
      const double z = 0.2 * x + 0.05 * std::sin(1.3 * x) * std::cos(1.7 * y) + heights[scan] + noise(random);
      out.xyz.push_back({x, y, i % 8 == 0 ? z + side(random) : z});
      out.scan.push_back(10.0 + static_cast<double>(scan));
      out.ground.push_back(1);
    }
  return out;
}

std::vector<ScanLift> take_layers(Ground& ground, const std::vector<std::uint8_t>& skip = {}) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  Column<double> scans(ground.scan.size());
  std::copy(ground.scan.begin(), ground.scan.end(), scans.view().data);
  return pc::take_layers({ground.xyz.data(), ground.xyz.size()}, {skip.data(), skip.size()},
                         AnyColumn(std::move(scans)), ctx);
}

TEST(TakeLayers, ScansOfFewerPointsAreMovedOntoTheOthers) {
  for (const double z : {0.1, 0.6, 47.0}) {
    Ground ground = floor_of({0, z, 0}, {1, 1, 1});
    const std::vector<Vec3d> before = ground.xyz;
    const auto lifts = take_layers(ground);
    ASSERT_EQ(lifts.size(), 1) << z;
    EXPECT_EQ(lifts[0].scan, 11);
    EXPECT_NEAR(lifts[0].z_m, z, 0.002);
    for (std::size_t i = 0; i < before.size(); i += 999)
      EXPECT_NEAR(before[i].z - ground.xyz[i].z, ground.scan[i] == 11 ? z : 0, 0.002);
  }
}

TEST(TakeLayers, TheLowerOneIfThatHasFewer) {
  Ground ground = floor_of({0, 0.6}, {1, 2});
  const auto lifts = take_layers(ground);
  ASSERT_EQ(lifts.size(), 1);
  EXPECT_EQ(lifts[0].scan, 10);
  EXPECT_NEAR(lifts[0].z_m, -0.6, 0.002);
}

TEST(TakeLayers, SeveralLayers) {
  Ground ground = floor_of({0, 0.6, 47, 0.25}, {2, 1, 1, 1});
  const auto lifts = take_layers(ground);
  ASSERT_EQ(lifts.size(), 3);
  const double expected[3] = {0.6, 47, 0.25};
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(lifts[k].z_m, expected[k], 0.003);
  EXPECT_TRUE(take_layers(ground).empty()) << "once they are moved";
}

TEST(TakeLayers, NothingIsMovedWithoutAScanThatLiesInOneLayer) {
  Ground ground = floor_of({0, 0.6}, {1, 1});
  for (std::size_t i = 0; i < ground.scan.size(); ++i) ground.scan[i] = static_cast<double>(i % 2);
  EXPECT_TRUE(take_layers(ground).empty()) << "both scans show both";
  std::fill(ground.scan.begin(), ground.scan.end(), 7);
  EXPECT_TRUE(take_layers(ground).empty()) << "one scan";
  ground = floor_of({0, 0}, {1, 1});
  EXPECT_TRUE(take_layers(ground).empty()) << "one layer";
}

TEST(TakeLayers, LiftsOfTwoKindsAreAdded) {
  const auto lifts = joined_lifts({{1, 0.5}, {3, 2}}, {{2, -1}, {3, 0.25}});
  ASSERT_EQ(lifts.size(), 3);
  EXPECT_EQ(lifts[0].z_m, 0.5);
  EXPECT_EQ(lifts[1].z_m, -1);
  EXPECT_EQ(lifts[2].z_m, 2.25);
}

TEST(ScanLifts, PointsAreLowered) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  std::vector<Vec3d> points{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  Column<std::uint8_t> scans(3);
  for (std::uint8_t i = 0; i < 3; ++i) scans.view()[i] = i;
  const AnyColumn column(std::move(scans));
  take_lifts({points.data(), 3}, column, {{0, 0.5}, {2, -1}}, ctx);
  EXPECT_EQ(points[0].z, 2.5);
  EXPECT_EQ(points[1].z, 6);
  EXPECT_EQ(points[2].z, 10);
  EXPECT_EQ(points[0].x, 1);
  EXPECT_THROW(take_lifts({points.data(), 2}, column, {}, ctx), Error);
}

}  // namespace
