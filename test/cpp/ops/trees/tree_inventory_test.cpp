#include "ops/trees/tree_inventory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>

#include "support/fuzz_runs.h"
#include "support/inventory_defaults.h"

namespace {

using namespace pc;
constexpr double kPi = std::numbers::pi;

/// A cloud in the making; its columns are those of a session.
struct Plot {
  std::vector<Vec3d> points;
  std::vector<std::uint32_t> ids;
  std::vector<float> heights;
  std::vector<std::uint8_t> ground, skip;
  std::vector<double> scans, times;  ///< of all points, or empty
  std::mt19937_64 random{11};

  void add(const Vec3d& p, std::uint32_t id, float height, std::uint8_t ground_class = 2) {
    points.push_back(p);
    ids.push_back(id);
    heights.push_back(height);
    ground.push_back(ground_class);
    skip.push_back(0);
  }
  /// A stem of 8 m below a crown of 3 m radius from 6 to 10 m.
  void add_tree(double x, double y, std::uint32_t id, double dbh, std::size_t count = 6000) {
    std::uniform_real_distribution<double> unit;
    std::normal_distribution<double> noise(0, 0.002);
    for (std::size_t i = 0; i < count; ++i) {
      const double z = 8 * unit(random), angle = 2 * kPi * unit(random), r = dbh / 2 + noise(random);
      add({x + r * std::cos(angle), y + r * std::sin(angle), z}, id, static_cast<float>(z));
    }
    for (std::size_t i = 0; i < count; ++i) {
      const double r = 3 * std::sqrt(unit(random)), angle = 2 * kPi * unit(random), z = 6 + 4 * unit(random);
      add({x + r * std::cos(angle), y + r * std::sin(angle), z}, id, static_cast<float>(z));
    }
  }
  void add_ground(double side, double step = 0.25) {
    for (double x = 0; x <= side; x += step) {
      for (double y = 0; y <= side; y += step) add({x, y, 0}, 0, 0, 1);
    }
  }
  template <class T>
  static AnyColumn column(const std::vector<T>& values) {
    Column<T> out(values.size());
    std::copy(values.begin(), values.end(), out.view().begin());
    return AnyColumn(std::move(out));
  }
  TreeInventoryResult measure(const TreeInventoryParams& params = inventory_defaults(), int threads = 2,
                              bool with_heights = true, bool with_ground = true,
                              const Vec3d& shift = {0, 0, 0}) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, threads);
    const AnyColumn tree = column(ids), height = column(heights), classes = column(ground);
    const AnyColumn scan = column(scans), time = column(times);
    return tree_inventory({{points.data(), points.size()},
                           shift,
                           {skip.data(), skip.size()},
                           &tree,
                           with_heights ? &height : nullptr,
                           with_ground ? &classes : nullptr,
                           scans.empty() ? nullptr : &scan,
                           times.empty() ? nullptr : &time},
                          params, ctx);
  }
};

/// The mean over all halves of the points, of which each is as likely.
TEST(TreeInventory, TheDropIsThatOfEverySecondPoint) {
  const auto drop_of = [](const std::vector<Vec3d>& points) {
    return expected_drop({points.data(), points.size()});
  };
  EXPECT_DOUBLE_EQ(drop_of({{0, 0, 8}, {1, 0, 10}, {0, 1, 9}}), 0.5);
  EXPECT_EQ(drop_of({{0, 0, 7}}), 0);
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Vec3d> crown;
  for (int i = 0; i < 500; ++i) crown.push_back({unit(random), unit(random), 20 * std::sqrt(unit(random))});
  double sum = 0, top = 0;
  for (const Vec3d& p : crown) top = std::max(top, p.z);
  constexpr int kHalves = 20'000;
  for (int k = 0; k < kHalves; ++k) {
    double highest = 0;
    for (const Vec3d& p : crown)
      if (unit(random) < 0.5) highest = std::max(highest, p.z);
    sum += top - highest;
  }
  EXPECT_NEAR(drop_of(crown) / (sum / kHalves), 1, 0.03);
}

TEST(TreeInventory, EveryIdIsARowOrSkipped) {
  Plot plot;
  plot.add_ground(20);
  plot.add_tree(5, 5, 4'000'000'000U, 0.3);
  plot.add_tree(12, 6, 2, 0.2);
  plot.add_tree(30, 6, 17, 0.25);
  for (int i = 0; i < 10; ++i) plot.add({15, 15, 0.1 * i}, 5, 0);
  plot.add({std::nan(""), 0, 0}, 2, 0);
  const TreeInventoryResult found = plot.measure();
  ASSERT_EQ(found.trees.size(), 3u);
  EXPECT_EQ(found.trees[0].id, 2u);
  EXPECT_EQ(found.trees[1].id, 17u);
  EXPECT_EQ(found.trees[2].id, 4'000'000'000U);
  EXPECT_EQ(found.nonfinite_count, 1u);
  EXPECT_EQ(found.trees[0].point_count, 12000u);
  ASSERT_EQ(found.skipped.size(), 1u);
  EXPECT_EQ(found.skipped[0].id, 5u);
  EXPECT_EQ(found.skipped[0].point_count, 10u);
  EXPECT_TRUE(found.skipped[0].small);
  const double truth[] = {0.2, 0.25, 0.3};
  for (std::size_t i = 0; i < 3; ++i) {
    const MeasuredTree& tree = found.trees[i];
    ASSERT_TRUE(tree.stem.breast_height.has_value());
    EXPECT_NEAR(2 * tree.stem.breast_height->circle.radius, truth[i], 0.003);
    EXPECT_GT(tree.dbh_sigma_m, 0.0001);
    EXPECT_LT(tree.dbh_sigma_m, 0.02);
    EXPECT_NEAR(tree.height_m, 10, 0.01);
    EXPECT_NEAR(tree.crown.base_height_m, 6, 0.2);
    EXPECT_NEAR(tree.crown.projected_area_m2, 9 * kPi, 0.5);
  }
}

TEST(TreeInventory, TheStandPassKnowsPlotEdgesAndOverlap) {
  Plot plot;
  plot.add_ground(20);
  plot.add_tree(8, 10, 1, 0.3);
  plot.add_tree(12, 10, 2, 0.2);
  const TreeInventoryResult found = plot.measure();
  ASSERT_TRUE(found.stand.has_value());
  const StandMeasures& stand = *found.stand;
  EXPECT_EQ(stand.plot.source, PlotSource::kGroundClass);
  EXPECT_NEAR(stand.plot.area_m2, 400, 1e-6 * 400);
  const double first = found.trees[0].stem.breast_height->circle.radius,
               second = found.trees[1].stem.breast_height->circle.radius;
  const double distance = std::hypot(found.trees[0].stem.base.x - found.trees[1].stem.base.x,
                                     found.trees[0].stem.base.y - found.trees[1].stem.base.y);
  EXPECT_NEAR(stand.competition.hegyi[0], second / first / distance, 1e-12);
  EXPECT_EQ(stand.competition.neighbor_count[0], 1u);
  EXPECT_EQ(stand.competition.edge[0], 0);
  const double lens = 2 * 9 * std::acos(4.0 / 6) - 2 * std::sqrt(36 - 16.0);
  EXPECT_NEAR(stand.cover.overlap_m2[0], lens, 0.4);
  EXPECT_NEAR(stand.cover.union_area_m2, 18 * kPi - lens, 1);
  EXPECT_EQ(plot.measure(inventory_defaults(), 2, true, false).stand->plot.source, PlotSource::kAllPoints);
}

TEST(TreeInventory, APatchOfGroundIsNoPlot) {
  Plot plot;
  plot.add_ground(4);  // 16 m2 under one of four trees
  for (int i = 0; i < 4; ++i)
    plot.add_tree(3 + 7 * (i % 2), 3 + 7 * (i / 2), static_cast<std::uint32_t>(i + 1), 0.2, 2000);
  const StandMeasures stand = *plot.measure().stand;
  EXPECT_EQ(stand.plot.source, PlotSource::kAllPoints);
  EXPECT_NEAR(stand.plot.area_m2, 13 * 13 - (4 - kPi) * 9, 4);
  EXPECT_LT(stand.plot.ground_share, 0.3);
}

TEST(TreeInventory, IdsThatAreNoExactNumbersAreSkipped) {
  Plot plot;
  plot.add_ground(20);
  plot.add_tree(5, 5, 1, 0.3);
  plot.add_tree(12, 6, 2, 0.2);
  std::vector<double> ids(plot.ids.begin(), plot.ids.end());
  for (double& id : ids) id = id == 2 ? 0x1.0p53 : id;
  const AnyColumn tree = Plot::column(ids), height = Plot::column(plot.heights);
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const TreeInventoryResult found =
      tree_inventory({{plot.points.data(), plot.points.size()}, {0, 0, 0}, {}, &tree, &height, nullptr},
                     inventory_defaults(), ctx);
  ASSERT_EQ(found.trees.size(), 1u);
  ASSERT_EQ(found.skipped.size(), 1u);
  EXPECT_EQ(found.skipped[0].id, 0x1.0p53);
  EXPECT_EQ(found.skipped[0].point_count, 12'000u);
  EXPECT_EQ(found.skipped[0].reason, "ids from 2^53 on are not exact numbers");
}

TEST(TreeInventory, TheGroundIsTheBestSourceThatThereIs) {
  Plot plot;
  plot.add_ground(20);
  plot.add_tree(10, 10, 1, 0.3);
  EXPECT_EQ(plot.measure().trees[0].stem.ground.source, GroundSource::kHeightAboveGround);
  EXPECT_EQ(plot.measure(inventory_defaults(), 2, false).trees[0].stem.ground.source,
            GroundSource::kGroundClass);
  EXPECT_EQ(plot.measure(inventory_defaults(), 2, false, false).trees[0].stem.ground.source,
            GroundSource::kTreeMinimum);
  std::fill(plot.heights.begin(), plot.heights.end(), std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(plot.measure().trees[0].stem.ground.source, GroundSource::kGroundClass);
}

TEST(TreeInventory, AHeightOfZeroIsUnknown) {
  Plot plot;
  plot.add_ground(20);
  plot.add_tree(10, 10, 1, 0.3);
  const double height = plot.measure().trees[0].height_m;
  for (std::size_t i = 0; i < plot.heights.size(); ++i) {  // as undone deletions have it
    if (plot.points[i].z > 2 && i % 3 == 0) plot.heights[i] = 0;
  }
  const MeasuredTree part = plot.measure().trees[0];
  EXPECT_EQ(part.stem.ground.source, GroundSource::kHeightAboveGround);
  EXPECT_NEAR(part.height_m, height, 1e-6);
  std::fill(plot.heights.begin(), plot.heights.end(), 0.F);
  EXPECT_EQ(plot.measure().trees[0].stem.ground.source, GroundSource::kGroundClass);
}

TEST(TreeInventory, SkippedRowsAreNeitherGroundNorPlot) {
  Plot plot;
  plot.add_ground(20);
  plot.add_tree(10, 10, 1, 0.3);
  Plot with_skipped = plot;
  for (double x = -20; x <= 40; x += 0.25) {  // deleted ground below the tree and around the plot
    for (double y = -20; y <= 40; y += 0.25) {
      with_skipped.add({x, y, -0.8}, 0, 0, 1);
      with_skipped.skip.back() = 1;
    }
  }
  for (const bool with_ground : {true, false}) {
    const TreeInventoryResult found = with_skipped.measure(inventory_defaults(), 2, false, with_ground);
    const TreeInventoryResult alone = plot.measure(inventory_defaults(), 2, false, with_ground);
    ASSERT_EQ(found.trees.size(), 1u);
    EXPECT_EQ(found.trees[0].stem.ground.source, alone.trees[0].stem.ground.source);
    EXPECT_EQ(found.trees[0].stem.base.z, alone.trees[0].stem.base.z);
    EXPECT_EQ(found.trees[0].height_m, alone.trees[0].height_m);
    EXPECT_EQ(found.stand->plot.source, with_ground ? PlotSource::kGroundClass : PlotSource::kAllPoints);
    EXPECT_NEAR(found.stand->plot.area_m2, 400, 1e-6 * 400);
    EXPECT_EQ(found.stand->plot.seen_share, alone.stand->plot.seen_share);
  }
}

TEST(TreeInventory, SubsetsAndSmallTrees) {
  Plot plot;
  plot.add_ground(20);
  plot.add_tree(6, 10, 1, 0.3);
  plot.add_tree(12, 10, 2, 0.2);
  plot.add({1, 1, 0}, 3, 0);
  TreeInventoryParams params = inventory_defaults();
  params.tree_ids = {2, 2, 9};
  const TreeInventoryResult subset = plot.measure(params);
  ASSERT_EQ(subset.trees.size(), 1u);
  EXPECT_EQ(subset.trees[0].id, 2u);
  EXPECT_FALSE(subset.stand.has_value());
  ASSERT_EQ(subset.skipped.size(), 1u);
  EXPECT_EQ(subset.skipped[0].id, 9u);
  EXPECT_FALSE(subset.skipped[0].small);
  params = inventory_defaults();
  params.min_points = 1;
  const TreeInventoryResult all = plot.measure(params);
  ASSERT_EQ(all.trees.size(), 3u);
  EXPECT_TRUE(all.trees[2].too_few_points);
  EXPECT_TRUE(std::isnan(all.stand->competition.hegyi[2]));
}

TEST(TreeInventory, TheSameForAnyThreadCountAndFarAway) {
  Plot plot;
  plot.add_ground(20);
  for (int i = 0; i < 9; ++i)
    plot.add_tree(4 + 6 * (i % 3), 4 + 6 * (i / 3), static_cast<std::uint32_t>(i + 1), 0.15 + 0.02 * i, 2000);
  const TreeInventoryResult one = plot.measure(inventory_defaults(), 1),
                            three = plot.measure(inventory_defaults(), 3);
  const TreeInventoryResult far = plot.measure(inventory_defaults(), 2, true, true, {5e6, 4e6, 300});
  ASSERT_EQ(one.trees.size(), 9u);
  EXPECT_EQ(one.stand->competition.hegyi, three.stand->competition.hegyi);
  EXPECT_EQ(one.stand->cover.union_area_m2, three.stand->cover.union_area_m2);
  for (std::size_t i = 0; i < 9; ++i) {
    const auto &a = one.trees[i], &b = three.trees[i], &c = far.trees[i];
    EXPECT_EQ(a.stem.breast_height->circle.radius, b.stem.breast_height->circle.radius);
    EXPECT_EQ(a.dbh_sigma_m, b.dbh_sigma_m);
    EXPECT_EQ(a.crown.projected_area_m2, b.crown.projected_area_m2);
    EXPECT_NEAR(a.stem.breast_height->circle.radius, c.stem.breast_height->circle.radius, 1e-6);
    EXPECT_NEAR(c.stem.base.x - 5e6, a.stem.base.x, 1e-6);
    EXPECT_NEAR(one.stand->competition.hegyi_corrected[i], far.stand->competition.hegyi_corrected[i], 1e-6);
  }
}

TEST(TreeInventory, TheSameForAnyOrderOfRows) {
  Plot plot;
  plot.add_ground(14);
  for (int i = 0; i < 4; ++i)
    plot.add_tree(4 + 6 * (i % 2), 4 + 6 * (i / 2), static_cast<std::uint32_t>(i + 1), 0.15 + 0.05 * i, 3000);
  for (Vec3d& p : plot.points) p.z = std::round(p.z * 1000) / 1000;  // many points of one height, as in files
  std::vector<std::size_t> order(plot.points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), plot.random);
  Plot shuffled;
  for (const std::size_t i : order)
    shuffled.add(plot.points[i], plot.ids[i], plot.heights[i], plot.ground[i]);
  const TreeInventoryResult found = plot.measure(), again = shuffled.measure();
  ASSERT_EQ(found.trees.size(), 4u);
  ASSERT_EQ(again.trees.size(), 4u);
  EXPECT_EQ(found.stand->competition.hegyi, again.stand->competition.hegyi);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto &a = found.trees[i], &b = again.trees[i];
    EXPECT_TRUE(a.stem.base == b.stem.base);
    EXPECT_TRUE(a.stem.axis == b.stem.axis);
    EXPECT_EQ(a.dbh_sigma_m, b.dbh_sigma_m);
    EXPECT_EQ(a.height_m, b.height_m);
    EXPECT_EQ(a.crown.projected_area_m2, b.crown.projected_area_m2);
    ASSERT_EQ(a.stem.curve.size(), b.stem.curve.size());
    for (std::size_t k = 0; k < a.stem.curve.size(); ++k)
      EXPECT_EQ(a.stem.curve[k].circle.radius, b.stem.curve[k].circle.radius) << i << ' ' << k;
  }
}

TEST(TreeInventory, EndsWhenCanceled) {
  Plot plot;
  plot.add_tree(6, 10, 1, 0.3);
  JobControl control;
  control.cancel_requested = true;
  OpContext ctx(control, Device::kCpu, 2);
  const AnyColumn tree = Plot::column(plot.ids);
  EXPECT_THROW(
      tree_inventory({{plot.points.data(), plot.points.size()}, {0, 0, 0}, {}, &tree, nullptr, nullptr},
                     inventory_defaults(), ctx),
      Error);
}

/// 95 % intervals of the diameter of tapering stems with bark and an elliptic section.
TEST(TreeInventory, TheSpreadOfADiameterIsHonest) {
  for (const double arc : {360.0, 120.0}) {
    int covered = 0;
    constexpr int kStems = 60;
    for (int run = 0; run < kStems; ++run) {
      std::mt19937_64 random(static_cast<std::uint64_t>(run) + 1);
      std::uniform_real_distribution<double> unit;
      std::normal_distribution<double> normal;
      const double dbh = 0.15 + 0.35 * unit(random), e = 0.05 * (2 * unit(random) - 1) * std::sqrt(3.0);
      const double turn = 2 * kPi * unit(random);
      std::vector<double> bark(36 * 70);  // sectors of 10 degrees, layers of 5 cm
      for (double& b : bark) b = 0.003 * normal(random);
      Plot plot;
      for (int i = 0; i < 3000; ++i) {
        const double z = 3.5 * unit(random), angle = turn + arc / 180 * kPi * unit(random);
        const double part = angle / (2 * kPi) - std::floor(angle / (2 * kPi));
        const double layer =
            bark[static_cast<std::size_t>(part * 36) + 36 * static_cast<std::size_t>(z * 20)];
        const double r =
            (dbh - 0.01 * (z - 1.3)) / 2 * (1 + e / 2 * std::cos(2 * angle)) + layer + 0.002 * normal(random);
        plot.add({r * std::cos(angle), r * std::sin(angle), z}, 1, static_cast<float>(z));
      }
      const TreeInventoryResult found = plot.measure(inventory_defaults(), 1);
      ASSERT_EQ(found.trees.size(), 1u);
      const auto& at = found.trees[0].stem.breast_height;
      ASSERT_TRUE(at.has_value());
      covered += std::abs(2 * at->circle.radius - dbh) <= 1.96 * found.trees[0].dbh_sigma_m ? 1 : 0;
    }
    std::printf("arc %g: %d of %d\n", arc, covered, kStems);
    EXPECT_GE(covered, 53) << arc;  // of 60 with 95 % each, fewer in one of 80 tests
  }
}

TEST(TreeInventory, AShrubHasNoDiameter) {
  Plot plot;
  plot.add_ground(20);
  std::uniform_real_distribution<double> one(-1, 1);
  const auto shrub = [&](double x, double y, std::uint32_t id, double height, int count) {
    for (int i = 0; i < count;) {
      const Vec3d p{one(plot.random), one(plot.random), std::abs(one(plot.random))};
      if (p.x * p.x + p.y * p.y + p.z * p.z > 1) continue;
      plot.add({x + 0.8 * p.x, y + 0.8 * p.y, height * p.z}, id, static_cast<float>(height * p.z));
      ++i;
    }
  };
  const auto stem = [&](double x, double y, std::uint32_t id, double radius, double height) {
    for (int i = 0; i < 900; ++i) {
      const double turn = kPi * one(plot.random), z = height * std::abs(one(plot.random));
      plot.add({x + radius * std::cos(turn), y + radius * std::sin(turn), z}, id, static_cast<float>(z));
    }
  };
  shrub(5, 5, 1, 1.5, 2'000);
  shrub(10, 5, 2, 1.9, 4'000);
  stem(15, 5, 3, 0.1, 1.8);
  stem(15, 10, 4, 0.02, 1.6);
  const TreeInventoryResult found = plot.measure();
  ASSERT_EQ(found.trees.size(), 4u);
  EXPECT_FALSE(found.trees[0].stem.breast_height.has_value());
  EXPECT_FALSE(found.trees[1].stem.breast_height.has_value());
  EXPECT_TRUE(std::isnan(found.trees[1].dbh_sigma_m));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(found.trees[i].crown.point_count, found.trees[i].point_count) << "all of a shrub is crown";
    for (const StemSection& section : found.trees[i].stem.curve) EXPECT_FALSE(section.ok) << section.axial_m;
  }
  ASSERT_TRUE(found.trees[2].stem.breast_height.has_value());
  EXPECT_NEAR(found.trees[2].stem.breast_height->circle.radius, 0.1, 0.003);
  ASSERT_TRUE(found.trees[3].stem.breast_height.has_value());
  EXPECT_NEAR(found.trees[3].stem.breast_height->circle.radius, 0.02, 0.003);
}

/// Crowns seen from above on a slope, whose lower side follows it.
TEST(TreeInventory, OnASlopeATreeWithoutAStemStandsUnderItsTop) {
  for (const double slope : {0.0, 0.36, 0.577}) {
    Plot plot;
    std::uniform_real_distribution<double> one(-1, 1);
    std::vector<double> tallest(4, 0);
    for (std::uint32_t id = 1; id <= 4; ++id) {
      const double x0 = 8.0 * id, y0 = 5;
      for (int i = 0; i < 600;) {
        const double x = 2.5 * one(plot.random), y = 2.5 * one(plot.random), r = std::sqrt(x * x + y * y);
        if (r > 2.5) continue;
        const double height = 1 + 8 * std::sqrt(1 - r * r / 6.25) * std::cbrt(std::abs(one(plot.random)));
        tallest[id - 1] = std::max(tallest[id - 1], height);
        plot.add({x0 + x, y0 + y, slope * (x0 + x) + height}, id, static_cast<float>(height));
        ++i;
      }
    }
    const TreeInventoryResult found = plot.measure();
    ASSERT_EQ(found.trees.size(), 4u);
    for (const MeasuredTree& tree : found.trees) {
      EXPECT_FALSE(tree.stem.breast_height.has_value());
      EXPECT_NEAR(tree.height_m, tallest[tree.id - 1], 0.35) << "slope " << slope;
    }
  }
}

/// Columns of points `gap` apart on the near side of a stem at (10, 10), seen along +x; every `step` metres up to 4 m.
void add_columns(Plot& plot, double diameter, int count, double gap, double step) {
  for (int c = 0; c < count; ++c) {
    const double y = gap * (c - (count - 1) / 2.0), x = -std::sqrt(diameter * diameter / 4 - y * y);
    for (double z = 0.1; z < 4; z += step) plot.add({10 + x, 10 + y, z}, 1, static_cast<float>(z));
  }
  for (double z = 4; z < 14; z += 0.05) plot.add({10 + 0.01 * z, 10, z}, 1, static_cast<float>(z));
}

// Thin stems far from the scanner: two columns lie on circles of any width, and leaves around choose a wide one.
TEST(TreeInventory, TwoColumnsAmongLeavesAreNoDiameter) {
  const auto measured = [](int columns, double gap, double step, int leaves, int seed) {
    Plot plot;
    plot.random.seed(static_cast<std::uint64_t>(seed));
    plot.add_ground(20);
    add_columns(plot, 0.16, columns, gap, step);
    std::uniform_real_distribution<double> unit(-1, 1);
    for (int i = 0; i < leaves;) {
      const Vec3d p{unit(plot.random), unit(plot.random), 2 + 2 * unit(plot.random)};
      if (std::hypot(p.x, p.y) < 0.1) continue;
      plot.add({10 + p.x, 10 + p.y, p.z}, 1, static_cast<float>(p.z));
      ++i;
    }
    return plot.measure().trees.at(0);
  };
  int diameters = 0, wrong = 0;
  for (int seed = 0; seed < 40; ++seed) {
    const auto& at = measured(2, 0.07, 0.1, 600, seed).stem.breast_height;
    if (at) ++diameters;
    if (at && std::abs(2 * at->circle.radius - 0.16) > 0.08) ++wrong;
  }
  EXPECT_LE(wrong, 2) << "of " << diameters;
  const MeasuredTree clear = measured(8, 0.02, 0.14, 0, 1);
  ASSERT_TRUE(clear.stem.breast_height.has_value()) << "eight columns, few points, nothing that hides them";
  EXPECT_NEAR(2 * clear.stem.breast_height->circle.radius, 0.16, 0.02);
}

// Seen from the air: the crown of a tree of 18 m, and a sapling under its side.
TEST(TreeInventory, ATreeSeenFromTheAirStandsUnderItsTop) {
  for (int seed = 0; seed < 10; ++seed) {
    Plot plot;
    plot.random.seed(static_cast<std::uint64_t>(seed));
    plot.add_ground(20, 0.2);
    std::uniform_real_distribution<double> unit(-1, 1);
    const auto fill = [&](const Vec3d& from, const Vec3d& half, int count) {
      for (int i = 0; i < count;) {
        const Vec3d u{unit(plot.random), unit(plot.random), unit(plot.random)};
        if (dot(u, u) > 1) continue;
        const Vec3d p{from.x + half.x * u.x, from.y + half.y * u.y, from.z + half.z * u.z};
        plot.add(p, 1, static_cast<float>(p.z));
        ++i;
      }
    };
    fill({10, 10, 13}, {2.5, 2.5, 5}, 1500);
    fill({11.6, 10, 1.6}, {0.35, 0.35, 1.5}, 120);
    plot.add({10, 10, 18.1}, 1, 18.1F);
    const MeasuredTree tree = plot.measure().trees.at(0);
    EXPECT_FALSE(tree.stem.breast_height.has_value()) << seed;
    EXPECT_NEAR(tree.stem.base.x, 10, 1e-6) << seed;
    EXPECT_NEAR(tree.stem.base.y, 10, 1e-6) << seed;
  }
}

/// A stem of 0.3 m: noise, and a second scan that stands beside the first.
TEST(TreeInventory, TheSpreadKnowsNoiseAndScansThatDoNotFit) {
  const auto measured = [](double noise_m, double shift_m) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> unit;
    std::normal_distribution<double> normal(0, noise_m);
    Plot plot;
    for (int i = 0; i < 6000; ++i) {
      const double z = 3.5 * unit(random), angle = kPi * (unit(random) + (i % 2 == 0 ? 0 : 0.6));
      const double r = 0.15 + normal(random), x = i % 2 == 0 ? 0 : shift_m;
      plot.add({x + r * std::cos(angle), r * std::sin(angle), z}, 1, static_cast<float>(z));
    }
    return plot.measure(inventory_defaults(), 1).trees.at(0);
  };
  const MeasuredTree clean = measured(0.003, 0);
  ASSERT_TRUE(clean.stem.breast_height.has_value());
  EXPECT_NEAR(clean.stem.breast_height->scatter_m, 0.003, 0.001);
  EXPECT_LT(clean.dbh_sigma_m, 0.006);
  for (const MeasuredTree& one : {measured(0.025, 0), measured(0.003, 0.06)}) {
    ASSERT_TRUE(one.stem.breast_height.has_value());
    EXPECT_GT(one.stem.breast_height->scatter_m, kMostScatter);
    EXPECT_GE(one.dbh_sigma_m, one.stem.breast_height->scatter_m);
    EXPECT_LT(std::abs(2 * one.stem.breast_height->circle.radius - 0.3), 2.5 * one.dbh_sigma_m);
  }
}

/// Random clouds, ids and parameters: no crash, and every id is a row or skipped.
TEST(TreeInventory, AnyCloudHasAnAnswer) {
  for (std::uint64_t run = 0; run < test::fuzz_runs(150); ++run) {
    std::mt19937_64 random(run);
    std::uniform_real_distribution<double> unit;
    const auto pick = [&](std::initializer_list<double> values) {
      return values.begin()[random() % values.size()];
    };
    const double scale = pick({0, 1e-9, 1, 10, 1e7}), offset = pick({0, 5e6, -1e12});
    const double flat_x = pick({0, 1}), flat_y = pick({0, 1}), flat_z = pick({0, 1});
    Plot plot;
    const auto count = static_cast<std::size_t>(pick({1, 2, 3, 60, 400, 3000}));
    const auto trees = static_cast<std::uint64_t>(pick({1, 3, 50}));
    for (std::size_t i = 0; i < count; ++i) {
      Vec3d p{offset + flat_x * scale * unit(random), offset + flat_y * scale * unit(random),
              flat_z * scale * unit(random)};
      if (random() % 50 == 0) p.z = pick({std::nan(""), HUGE_VAL, 1e300, -1e300, 1e7});
      const auto id = random() % 20 == 0 ? 4'000'000'000U : static_cast<std::uint32_t>(random() % trees + 1);
      plot.add(p, id, static_cast<float>(pick({0.1, 5, std::nan(""), -1e30, HUGE_VAL})),
               static_cast<std::uint8_t>(random() % 3));
      plot.scans.push_back(pick({0, 1, 2, std::nan("")}));
      plot.times.push_back(
          pick({0, 20, 1e9 * unit(random), std::nan(""), HUGE_VAL, 1e300, -1e308, 1e12, -1e12}));
    }
    if (random() % 3 == 0) plot.scans.clear();
    if (random() % 3 == 0) plot.times.clear();
    TreeInventoryParams params = inventory_defaults();
    params.min_points = static_cast<std::uint64_t>(pick({1, 20}));
    params.stem.search = random() % 2 == 0 ? CircleSearch::kRansac : CircleSearch::kHough;
    params.stem.slice_thickness_m = pick({0.001, 0.1, 2});
    params.stem.curve_step_m = pick({0.01, 0.5, 1e6});
    params.stem.breast_height_m = pick({1e-6, 1.3, 1e9});
    params.stem.inlier_distance_m = pick({1e-6, 0.02, 10});
    params.crown.voxel_size_m = pick({1e-3, 0.1, 1e6});
    params.crown.gap_m = pick({1e-3, 1, 1e9});
    params.competition_radius_m = pick({1e-3, 6, 1000});
    params.most_view_spread_m = pick({1e-9, 0.004});
    const TreeInventoryResult found = plot.measure(params, 2, random() % 2 == 0, random() % 2 == 0);
    std::uint64_t points = found.nonfinite_count;
    for (const MeasuredTree& tree : found.trees) points += tree.point_count;
    for (const SkippedTree& tree : found.skipped) points += tree.point_count;
    ASSERT_EQ(points, count) << run;
  }
}

}  // namespace
