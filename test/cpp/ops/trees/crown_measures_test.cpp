#include "ops/trees/crown_measures.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <ctime>
#include <numbers>
#include <random>
#include <thread>
#include <vector>

#include "core/error.h"

namespace {

using namespace pc;
constexpr double kPi = std::numbers::pi;

/// A vertical stem of 20 cm at 0 0 0 without points of its own.
Stem stem_at_zero() {
  Stem stem{};
  stem.found = true;
  stem.axis = {0, 0, 1};
  stem.base = {0, 0, 0};
  StemSection section{};
  section.axial_m = 1;
  section.circle.radius = 0.1;
  section.ok = true;
  stem.curve = {section};
  return stem;
}

CrownMeasures measure(const std::vector<Vec3d>& points, const Stem& stem = stem_at_zero(), double gap = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  return measure_crown({points.data(), points.size()}, stem, {0.1, gap, 0.2, 0.05}, ctx);
}

/// Points all around the axis between two heights.
void add_ring(std::vector<Vec3d>& points, double low, double high, double radius, int count = 4000) {
  std::mt19937_64 random(static_cast<std::uint64_t>(count) + points.size());
  std::uniform_real_distribution<double> unit;
  for (int i = 0; i < count; ++i) {
    const double angle = 2 * kPi * unit(random), r = 0.3 + (radius - 0.3) * unit(random);
    points.push_back({r * std::cos(angle), r * std::sin(angle), low + (high - low) * unit(random)});
  }
}

TEST(CrownMeasures, AnEllipseBesideTheStem) {
  std::vector<Vec3d> points;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit;
  for (int i = 0; i < 40'000; ++i) {
    const double angle = 2 * kPi * unit(random), r = std::sqrt(unit(random));
    points.push_back({1 + 3 * r * std::cos(angle), 1.5 * r * std::sin(angle), 4 + 2 * unit(random)});
  }
  const CrownMeasures crown = measure(points);
  EXPECT_NEAR(crown.eccentricity, std::sqrt(0.75), 0.03);
  EXPECT_NEAR(crown.max_width_m, 6, 0.18);
  EXPECT_NEAR(crown.perp_width_m, 3, 0.15);
  EXPECT_NEAR(crown.offset_m, 1, 0.05);
  EXPECT_NEAR(crown.offset_azimuth_deg, 90, 3);
  EXPECT_NEAR(crown.projected_area_m2, kPi * 4.5, 0.03 * kPi * 4.5);
}

TEST(CrownMeasures, AGapEndsTheCrownAndALowBranchDoesNot) {
  std::vector<Vec3d> points;
  add_ring(points, 4, 8, 2);
  for (int i = 0; i < 300; ++i) points.push_back({0.5 + i * 0.005, 0, 1.1 + i * 0.0003});
  EXPECT_NEAR(measure(points).base_height_m, 4, 0.2);
  points.clear();
  add_ring(points, 4, 8, 2);
  add_ring(points, 3.25, 3.35, 2, 400);
  EXPECT_NEAR(measure(points).base_height_m, 3.2, 1e-9);
}

TEST(CrownMeasures, TheSidesOfALeaningTreeAreThoseOfItsAxis) {
  // A branch to one side from 5 to 6 m belongs to the crown but does not surround the stem. Sheared, the tree keeps the
  // heights of its points, and from 6 m on the whole crown is on one side of its foot.
  std::vector<Vec3d> upright;
  add_ring(upright, 6, 10, 2);
  for (int i = 0; i < 500; ++i) upright.push_back({0.5 + 0.001 * i, 0.4, 5 + 0.002 * i});
  const double wanted = measure(upright).base_height_m;
  EXPECT_NEAR(wanted, 6, 0.21);
  const double slope = std::tan(20 * kPi / 180);
  for (int eighth = 0; eighth < 8; ++eighth) {
    const double dx = slope * std::cos(eighth * kPi / 4), dy = slope * std::sin(eighth * kPi / 4);
    Stem stem = stem_at_zero();
    const double length = std::sqrt(1 + slope * slope);
    stem.axis = {dx / length, dy / length, 1 / length};
    std::vector<Vec3d> leaning;
    for (const Vec3d& p : upright) leaning.push_back({p.x + dx * p.z, p.y + dy * p.z, p.z});
    const CrownMeasures crown = measure(leaning, stem);
    EXPECT_EQ(crown.point_count, upright.size());
    EXPECT_EQ(crown.base_height_m, wanted) << 45 * eighth << " degrees";
  }
}

TEST(CrownMeasures, StemPointsAreNoCrown) {
  std::vector<Vec3d> points;
  for (int i = 0; i < 1000; ++i) {
    points.push_back({0.1 * std::cos(i * 0.1), 0.1 * std::sin(i * 0.1), 0.01 * i});
  }
  EXPECT_EQ(measure(points).point_count, 0u);
  EXPECT_TRUE(std::isnan(measure(points).base_height_m));
  Stem none{};
  none.axis = {0, 0, 1};
  none.base = {0, 0, 0};
  EXPECT_EQ(measure(points, none).point_count, 1000u);
}

/// An arm of a lamp is deep by its layer, a crown by all of its own, whatever the voxels.
TEST(CrownMeasures, TheDepthIsThatOfLayersWithCubes) {
  std::vector<Vec3d> arm, crown;
  for (int i = 0; i < 300; ++i) arm.push_back({0.3 + 0.005 * i, 0, 8.2});
  add_ring(crown, 4, 8, 2);
  EXPECT_NEAR(measure(arm).depth_m, 0.5, 1e-12);
  EXPECT_NEAR(measure(arm).cube_volume_m3, 0.015, 0.0011);
  EXPECT_NEAR(measure(crown).depth_m, 4, 1e-12);
  crown.insert(crown.end(), arm.begin(), arm.begin() + 20);  // too little for a layer
  EXPECT_NEAR(measure(crown).depth_m, 4, 1e-12);
}

TEST(CrownMeasures, VoxelsLieOnALatticeFixedToTheCoordinates) {
  std::vector<Vec3d> points;
  for (int x = 0; x < 10; ++x) {
    for (int y = 0; y < 10; ++y) {
      for (int z = 0; z < 10; ++z)
        points.push_back({5 + 0.1 * x + 0.05, 5 + 0.1 * y + 0.05, 3 + 0.1 * z + 0.05});
    }
  }
  EXPECT_NEAR(measure(points).voxel_volume_m3, 1, 1e-9);
}

TEST(CrownMeasures, LinesSinglePointsAndHugeHeights) {
  EXPECT_TRUE(measure({{1, 1, 1}}).hull.size() < 3);
  std::vector<Vec3d> line;
  for (int i = 0; i < 50; ++i) line.push_back({0.3 + 0.1 * i, 0.3 + 0.1 * i, 2});
  EXPECT_TRUE(std::isnan(measure(line).projected_area_m2));
  EXPECT_TRUE(std::isnan(measure({{1, 1, 0}, {1, 1, 1e9}}).base_height_m));
  EXPECT_EQ(measure({}).point_count, 0u);
}

/// CPU seconds since a start.
double cpu_since(std::clock_t start) { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; }

TEST(CrownMeasures, TheGainMakesUpForFewPoints) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(-1, 1);
  const double disc = 4 * std::acos(-1.0);
  for (const int count : {8, 30, 200}) {
    double hulls = 0, gained = 0;
    const int trees = 1500;
    for (int tree = 0; tree < trees; ++tree) {
      std::vector<Vec3d> points;
      while (points.size() < static_cast<std::size_t>(count)) {
        const Vec3d p{2 * unit(random), 2 * unit(random), 5 + unit(random)};
        if (std::hypot(p.x, p.y) <= 2) points.push_back(p + Vec3d{9, 9, 0});
      }
      const CrownMeasures crown = measure(points);
      hulls += crown.projected_area_m2 / trees;
      gained += (crown.projected_area_m2 + crown.area_gain_m2) / trees;
    }
    EXPECT_LT(hulls, (count == 200 ? 0.96 : 0.85) * disc) << count;
    EXPECT_NEAR(gained, disc, 0.05 * disc) << count;
  }
}

/// Measures a crown and cancels after some CPU time. Returns the CPU seconds from then to the end, or a negative number if
/// the crown was measured before.
double late_by(const std::vector<Vec3d>& points, double cancel_after) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  std::atomic<bool> over{false};
  std::clock_t asked = 0;
  const std::clock_t start = std::clock();
  std::thread canceler([&] {
    while (!over && cpu_since(start) < cancel_after)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    asked = std::clock();
    control.cancel_requested = true;
  });
  bool canceled = false;
  try {
    measure_crown({points.data(), points.size()}, stem_at_zero(), {0.1, 1, 0.2, 0.05}, ctx);
  } catch (const Error& error) {
    canceled = error.code() == ErrorCode::kCanceled;
  }
  const std::clock_t ended = std::clock();
  over = true;
  canceler.join();
  return canceled ? static_cast<double>(ended - asked) / CLOCKS_PER_SEC : -1;
}

TEST(CrownMeasures, OneTreeIsCanceledWhileItsCellsAreSorted) {
  // The sort takes most of the time. One that looks at no cancel ends at about three quarters of it.
  std::vector<Vec3d> points;
  add_ring(points, 4, 24, 8, 200'000);
  const std::clock_t start = std::clock();
  measure(points);
  const double whole = cpu_since(start);
  // On a busy machine the canceler may wake late, so the earliest end of some runs counts.
  double late = HUGE_VAL;
  for (int attempt = 0; attempt < 10 && !(late < 0.2 * whole); ++attempt) {
    const double one = late_by(points, 0.4 * whole);
    if (one >= 0) late = std::fmin(late, one);
  }
  EXPECT_LT(late, 0.2 * whole);
}

}  // namespace
