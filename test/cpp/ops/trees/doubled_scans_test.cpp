#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ops/trees/tree_inventory.h"
#include "support/cancel.h"
#include "support/columns.h"
#include "support/inventory_defaults.h"

namespace {

using namespace pc;
constexpr double kPi = std::numbers::pi;

/// Twelve trees that two scans see, of which the second lies beside the first.
struct DoubledPlot {
  std::vector<Vec3d> points;
  std::vector<std::uint32_t> ids;
  std::vector<float> heights;
  std::vector<char> is_second;
  std::vector<double> diameters, scans, times;  ///< scans and times: of all points, or empty

  /// others   where the second scan has every second tree
  DoubledPlot(const Vec2d& beside, bool divided, std::uint32_t trees = 12, std::optional<Vec2d> others = {}) {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> unit;
    std::normal_distribution<double> noise(0, 0.002);
    for (std::uint32_t k = 0; k < trees; ++k) {
      diameters.push_back(0.2 + 0.02 * k);
      const double x = 6. * (k % 3), y = 6. * (k / 3);
      const Vec2d by = k % 2 == 1 && others ? *others : beside;
      for (int i = 0; i < 24'000; ++i) {
        const bool second = i % 2 == 1, crown = i % 4 < 2;
        const double z = crown ? 6 + 4 * unit(random) : 8 * unit(random), angle = 2 * kPi * unit(random);
        const double r = crown ? 2.5 * std::sqrt(unit(random)) : diameters[k] / 2 + noise(random);
        // A divided tree has the stem of the second scan, and half of its crown, in another one.
        points.push_back({x + r * std::cos(angle) + (second ? by.x : 0),
                          y + r * std::sin(angle) + (second ? by.y : 0), z});
        is_second.push_back(second);
        ids.push_back(divided && second && k < 3 ? 100 + k : 1 + k);
        heights.push_back(static_cast<float>(z));
      }
    }
  }

  /// Tells the scan of each point, and a time of the second scan.
  void stamp(const std::function<double(std::size_t)>& time, bool first_has_times = true) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      scans.push_back(is_second[i] ? 2 : 1);
      times.push_back(is_second[i] || first_has_times ? time(i) : std::nan(""));
    }
  }
  TreeInventoryResult measure(bool align = true, int threads = 2, bool backwards = false) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, threads);
    return measure(align, ctx, backwards);
  }
  TreeInventoryResult measure(bool align, OpContext& ctx, bool backwards = false) const {
    std::vector<Vec3d> xyz = points;
    std::vector<std::uint32_t> tree = ids;
    std::vector<float> height = heights;
    if (backwards) {
      std::reverse(xyz.begin(), xyz.end());
      std::reverse(tree.begin(), tree.end());
      std::reverse(height.begin(), height.end());
    }
    const AnyColumn tree_column = test::column_of(tree), height_column = test::column_of(height);
    TreeInventoryParams params = inventory_defaults();
    params.align_scans = align;
    const AnyColumn scan = test::column_of(scans), time = test::column_of(times);
    return tree_inventory({{xyz.data(), xyz.size()},
                           {0, 0, 0},
                           {},
                           &tree_column,
                           &height_column,
                           nullptr,
                           scans.empty() ? nullptr : &scan,
                           times.empty() ? nullptr : &time},
                          params, ctx);
  }
};

void expect_right(const TreeInventoryResult& found, const DoubledPlot& plot) {
  for (const MeasuredTree& tree : found.trees) {
    if (tree.part_of != 0) continue;
    ASSERT_TRUE(tree.stem.breast_height) << tree.id;
    EXPECT_NEAR(2 * tree.stem.breast_height->circle.radius, plot.diameters.at(tree.id - 1), 0.002) << tree.id;
    EXPECT_NEAR(tree.height_m, 10, 0.1) << tree.id;
  }
}

TEST(DoubledScans, StemsAreMeasuredWithTheirLayersJoined) {
  for (const Vec2d& beside : {Vec2d{0.02, 0}, {0.05, -0.03}, {0, 0.09}}) {
    const DoubledPlot plot(beside, false);
    const TreeInventoryResult found = plot.measure();
    ASSERT_TRUE(found.layers);
    EXPECT_TRUE(found.layers->joins);
    EXPECT_GE(found.layers->joined, 11U);
    EXPECT_NEAR(std::hypot(found.layers->motion.apart.x, found.layers->motion.apart.y),
                std::hypot(beside.x, beside.y), 0.002);
    EXPECT_EQ(found.trees.size(), 12U);
    expect_right(found, plot);
  }
}

TEST(DoubledScans, PartsOfATreeAreMeasuredWithIt) {
  const DoubledPlot plot({0.09, 0.03}, true);
  const TreeInventoryResult found = plot.measure();
  ASSERT_TRUE(found.layers && found.layers->joins);
  ASSERT_EQ(found.trees.size(), 15U);
  expect_right(found, plot);
  std::size_t parts = 0, with_stem = 0;
  for (const MeasuredTree& tree : plot.measure(false).trees)
    with_stem += tree.id >= 100 && tree.stem.breast_height ? 1 : 0;
  EXPECT_GE(with_stem, 1U);
  for (const MeasuredTree& tree : found.trees) {
    if (tree.part_of == 0) {
      EXPECT_EQ(tree.point_count, 24'000U) << tree.id;
      continue;
    }
    ++parts;
    EXPECT_TRUE(tree.is_none());
    EXPECT_FALSE(tree.stem.breast_height);
    EXPECT_EQ(tree.id + tree.part_of - std::min(tree.id, tree.part_of), std::max(tree.id, tree.part_of));
    EXPECT_EQ(std::max(tree.id, tree.part_of) - 99, std::min(tree.id, tree.part_of));
  }
  EXPECT_EQ(parts, 3U);
  EXPECT_GT(found.stand->cover.union_area_m2, 12 * 15.);
}

TEST(DoubledScans, AreToldAloneIfNotToBeAligned) {
  const TreeInventoryResult found = DoubledPlot({0.06, 0}, false).measure(false);
  ASSERT_TRUE(found.layers);
  EXPECT_FALSE(found.layers->joins);
  EXPECT_EQ(found.layers->joined, 0U);
  EXPECT_FALSE(DoubledPlot({0, 0}, false).measure().layers);
  EXPECT_FALSE(DoubledPlot({0.06, 0}, false, 3).measure().layers);  // three stems are too few
}

/// As three scans show it: one way to move them does not help half of the trees.
TEST(DoubledScans, OfSeveralMotionsNoneIsJoined) {
  const TreeInventoryResult found = DoubledPlot({0.06, 0}, false, 20, Vec2d{-0.02, 0.05}).measure();
  ASSERT_TRUE(found.layers);
  EXPECT_GE(found.layers->motion.of, 17U);
  EXPECT_LE(found.layers->motion.stems, 10U);
  EXPECT_FALSE(found.layers->joins);
}

/// Times that are no seconds: numbers of pulses, ticks, none at all. A scan is one view then.
TEST(DoubledScans, TimesThatAreNoneDoNotHideTheScans) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<std::function<double(std::size_t)>, bool>> clocks{
      {[](std::size_t i) { return 97. * static_cast<double>(i); }, true},
      {[](std::size_t i) { return 1e15 + static_cast<double>(i); }, true},
      {[](std::size_t) { return kNone; }, true},
      {[](std::size_t i) { return 1e-4 * static_cast<double>(i); }, false}};
  for (const auto& [time, first_has_times] : clocks) {
    DoubledPlot plot({0.05, -0.03}, false);
    plot.stamp(time, first_has_times);
    const TreeInventoryResult found = plot.measure();
    ASSERT_TRUE(found.views) << time(1000);
    EXPECT_EQ(found.views->stems, 12U);
    EXPECT_TRUE(found.views->aligned);
    EXPECT_FALSE(found.layers);
    expect_right(found, plot);
  }
}

TEST(DoubledScans, TheSameForAnyThreadCountAndOrderOfRows) {
  const DoubledPlot plot({0.06, 0.02}, true);
  const TreeInventoryResult one = plot.measure(true, 1);
  for (const TreeInventoryResult& other : {plot.measure(true, 4), plot.measure(true, 2, true)}) {
    ASSERT_EQ(one.trees.size(), other.trees.size());
    EXPECT_EQ(one.layers->joined, other.layers->joined);
    EXPECT_EQ(one.layers->motion.apart.x, other.layers->motion.apart.x);
    for (std::size_t i = 0; i < one.trees.size(); ++i) {
      EXPECT_EQ(one.trees[i].part_of, other.trees[i].part_of);
      EXPECT_EQ(one.trees[i].height_m, other.trees[i].height_m);
      ASSERT_EQ(one.trees[i].stem.breast_height.has_value(), other.trees[i].stem.breast_height.has_value());
      if (one.trees[i].stem.breast_height) {
        EXPECT_EQ(one.trees[i].stem.breast_height->circle.radius,
                  other.trees[i].stem.breast_height->circle.radius);
      }
    }
  }
}

TEST(DoubledScans, EndWhenCanceled) {
  const DoubledPlot plot({0.06, 0.02}, false);
  test::expect_cancel_in_phase("Joining layers", [&](OpContext& ctx) { plot.measure(true, ctx); });
}

}  // namespace
