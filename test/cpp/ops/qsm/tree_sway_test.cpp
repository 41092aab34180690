#include "ops/qsm/tree_sway.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <numeric>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "ops/qsm/tree_model.h"
#include "ops/qsm/wood_views.h"
#include "support/columns.h"
#include "support/swaying_tree.h"

namespace pc {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr QsmBuildParams kParams{0.00423, true, 0.7, 1, 1, 1, RadiusModel::kTapered};

TreeSway swayed(const SwayingTree& tree, std::size_t scans) {
  JobControl control;
  OpContext ctx(control);
  std::vector<std::uint32_t> view;
  for (const double scan : tree.scan) view.push_back(static_cast<std::uint32_t>(scan));
  return tree_sway(tree.cylinders,
                   {{tree.points.data(), tree.points.size()}, {view.data(), view.size()}, scans}, ctx);
}

/// Root mean square of what the places of the points have left, but for what all scans share there.
double left(const SwayingTree& tree, const TreeSway& sway, std::size_t scans) {
  double sum = 0;
  for (std::size_t i = 0; i < tree.points.size(); ++i) {
    Vec3d mean{0, 0, 0};
    for (std::size_t s = 0; s < scans; ++s)
      mean = mean + SwayingTree::shift(tree.still[i], static_cast<int>(s), 0.06) *
                        (1.0 / static_cast<double>(scans));
    const Vec3d off = tree.points[i] - sway.shift[i] - tree.still[i] - mean;
    sum += dot(off, off);
  }
  return std::sqrt(sum / static_cast<double>(tree.points.size()));
}

TEST(TreeSwayTest, FindsHowEachScanHasTheTree) {
  const SwayingTree tree(0.06, 4);
  const TreeSway sway = swayed(tree, 4);
  EXPECT_TRUE(sways(sway));
  EXPECT_LT(left(tree, sway, 4), 0.4 * left(tree, {BulkVector<Vec3d>(tree.points.size()), 0, 0, 0, 0}, 4));
  EXPECT_LT(sway.scatter_m, 0.0035);
  EXPECT_GT(sway.together_m, 1.5 * sway.scatter_m);
}

TEST(TreeSwayTest, LeavesAStillTreeAlone) {
  for (const double noise : {0.0, 0.002, 0.01}) {
    const SwayingTree tree(0, 4, noise);
    const TreeSway sway = swayed(tree, 4);
    EXPECT_FALSE(sways(sway)) << noise << " " << sway.together_m << " " << sway.scatter_m;
  }
}

/// A stem of 3 m and 0.3 m whose axes differ by 14 %, of which each of four scans sees the side towards it.
SwayingTree oval_stem() {
  SwayingTree tree(0, 4, 0.003);
  tree.cylinders.clear();
  tree.points.clear();
  tree.scan.clear();
  for (int k = 0; k < 10; ++k) {
    QsmCylinder c{};
    c.start = {0, 0, 0.3 * k};
    c.end = {0, 0, 0.3 * (k + 1)};
    c.radius = 0.15;
    c.parent_id = k - 1;
    tree.cylinders.push_back(c);
  }
  for (std::uint64_t i = 0; i < 6000; ++i) {
    const auto scan = static_cast<double>(i % 4);
    const double angle = kPi / 2 * scan + 0.3 + kPi * 0.8 * (random_unit(3, 3 * i) - 0.5);
    const double noise = 0.003 * std::sqrt(12.0) * (random_unit(3, 3 * i + 1) - 0.5);
    const double r = 0.15 * (1 + 0.07 * std::cos(2 * angle)) + noise;
    tree.points.push_back({r * std::cos(angle), r * std::sin(angle), 3 * random_unit(3, 3 * i + 2)});
    tree.scan.push_back(scan);
  }
  return tree;
}

TEST(TreeSwayTest, AStemThatIsNotRoundStandsStill) {
  const TreeSway sway = swayed(oval_stem(), 4);
  EXPECT_FALSE(sways(sway)) << sway.together_m << " " << sway.scatter_m;
  EXPECT_LT(sway.together_m, 0.004) << "its shape is known";
}

TEST(TreeSwayTest, PointsWithoutAViewStay) {
  const SwayingTree tree(0.06, 3);
  JobControl control;
  OpContext ctx(control);
  std::vector<std::uint32_t> view;
  for (std::size_t i = 0; i < tree.scan.size(); ++i)
    view.push_back(i % 10 == 0 ? kNoView : static_cast<std::uint32_t>(tree.scan[i]));
  const TreeSway sway = tree_sway(
      tree.cylinders, {{tree.points.data(), tree.points.size()}, {view.data(), view.size()}, 3}, ctx);
  for (std::size_t i = 0; i < view.size(); i += 10) EXPECT_EQ(dot(sway.shift[i], sway.shift[i]), 0);
}

TEST(TreeSwayTest, RefusesWhatIsNoView) {
  const SwayingTree tree(0, 2);
  JobControl control;
  OpContext ctx(control);
  const std::vector<std::uint32_t> view(tree.points.size(), 0);
  const Span<const Vec3d> points{tree.points.data(), tree.points.size()};
  EXPECT_THROW(tree_sway(tree.cylinders, {points, {view.data(), view.size()}, 1}, ctx), Error);
  EXPECT_THROW(tree_sway(tree.cylinders, {points, {view.data(), view.size()}, 11}, ctx), Error);
  EXPECT_THROW(tree_sway(tree.cylinders, {points, {view.data(), view.size() - 1}, 2}, ctx), Error);
}

struct Rows {
  AnyColumn scan;
  std::vector<Vec3d> points;

  explicit Rows(const SwayingTree& tree) : scan(test::column_of(tree.scan)), points(tree.points) {}
  TreeModel model(bool align, bool has_scans = true, int threads = 0) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, threads);
    return tree_model({{points.data(), points.size()},
                       {},
                       nullptr,
                       0,
                       0,
                       {0, 0, 0},
                       60'000,
                       has_scans ? &scan : nullptr,
                       nullptr,
                       align},
                      kParams, ctx);
  }
};

double volume_of(const TreeModel& model) { return model.metrics->total_woody_volume_m3; }

TEST(TreeModelTest, ATreeInTheWindHasTheVolumeOfTheStillOne) {
  const double still = volume_of(Rows(SwayingTree(0, 4)).model(true));
  const Rows rows(SwayingTree(0.08, 4));
  const TreeModel as_scanned = rows.model(true, false), aligned = rows.model(true), told = rows.model(false);
  EXPECT_GT(std::fabs(volume_of(as_scanned) / still - 1), 0.1);
  EXPECT_NEAR(volume_of(aligned) / still, 1, 0.03);
  ASSERT_TRUE(aligned.views && told.views);
  EXPECT_TRUE(aligned.views->sways && aligned.views->aligned);
  EXPECT_EQ(aligned.views->views, 4U);
  EXPECT_NEAR(aligned.views->spread_m, 0.03, 0.015);
  EXPECT_GT(aligned.built.total.high - aligned.built.total.low,
            as_scanned.built.total.high - as_scanned.built.total.low);
  EXPECT_TRUE(told.views->sways && !told.views->aligned);
  EXPECT_EQ(volume_of(told), volume_of(as_scanned));
  EXPECT_FALSE(told.built.radii_known);
  EXPECT_FALSE(as_scanned.views);
}

/// Whose sway is looked for in the size that its model is built in.
TEST(TreeModelTest, APlantInAPotThatMovedIsMovedBack) {
  const auto potted = [](double sway) {
    Rows rows(SwayingTree(sway, 4));
    for (Vec3d& p : rows.points) p = p * 0.1;
    return rows;
  };
  const double still = volume_of(potted(0).model(true));
  EXPECT_NEAR(still / volume_of(Rows(SwayingTree(0, 4)).model(true)), 0.001, 0.00005);
  const TreeModel aligned = potted(0.08).model(true), as_scanned = potted(0.08).model(true, false);
  EXPECT_NEAR(volume_of(aligned) / still, 1, 0.2);
  EXPECT_GT(volume_of(as_scanned) / still, 1.4);
  ASSERT_TRUE(aligned.views);
  EXPECT_TRUE(aligned.views->sways && aligned.views->aligned);
  EXPECT_NEAR(aligned.views->spread_m, 0.003, 0.0015);
  EXPECT_LT(aligned.views->scatter_m, 0.0005);
}

TEST(TreeModelTest, ATreeThatStoodStillHasTheModelOfItsPoints) {
  const Rows rows(SwayingTree(0, 4));
  const TreeModel model = rows.model(true);
  ASSERT_TRUE(model.views);
  EXPECT_FALSE(model.views->sways);
  EXPECT_EQ(model.views->spread_m, 0);
  EXPECT_EQ(volume_of(model), volume_of(rows.model(true, false)));
}

/// Leaves of a shrub, each seen by one of three scans.
SwayingTree shrub() {
  SwayingTree out(0, 1);
  out.points.clear();
  out.scan.clear();
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int leaf = 0; leaf < 300; ++leaf) {
    const Vec3d at{0.7 * unit(random), 0.7 * unit(random), 1 + 0.7 * unit(random)};
    const Vec3d u{0.05 * unit(random), 0.05 * unit(random), 0.05 * unit(random)};
    const Vec3d v{0.05 * unit(random), 0.05 * unit(random), 0.05 * unit(random)};
    for (int i = 0; i < 40; ++i) {
      out.points.push_back(at + u * unit(random) + v * unit(random));
      out.scan.push_back(leaf % 3);
    }
  }
  return out;
}

TEST(TreeModelTest, AShrubKeepsTheModelOfItsPoints) {
  const Rows rows(shrub());
  const TreeModel model = rows.model(true);
  ASSERT_TRUE(model.views);
  EXPECT_FALSE(model.views->sways);
  EXPECT_EQ(volume_of(model), volume_of(rows.model(true, false)));
}

TEST(TreeModelTest, PointsAtOnePlaceInSeveralScansHaveNoModel) {
  SwayingTree tree(0, 1);
  tree.points.assign(200, {1, 1, 1});
  tree.scan.resize(200);
  for (std::size_t i = 0; i < 200; ++i) tree.scan[i] = static_cast<double>(i % 3);
  const TreeModel model = Rows(tree).model(true);
  EXPECT_TRUE(model.built.qsm.cylinders.empty());
  EXPECT_FALSE(model.metrics || model.views);
  EXPECT_EQ(model.point_count, 200U);
  EXPECT_EQ(model.built.points_used, 200U);
}

TEST(TreeModelTest, ViewsLieNoFartherApartThanTheirPointsScatter) {
  const auto apart = [](double spread, double together) {
    return is_plausible({4, spread, 0.003, together, true, true});
  };
  EXPECT_TRUE(apart(0.02, 0.0032));  // simulated winds
  EXPECT_TRUE(apart(0.047, 0.0069));
  EXPECT_FALSE(apart(0.111, 0.0042));  // a still tree of few points
  EXPECT_TRUE(apart(0.01, 0)) << "points without noise scatter by a millimetre";
  EXPECT_FALSE(apart(0.02, 0));
}

TEST(TreeModelTest, AModelIsClearerIfItsRadiiAreKnownOrMoreOfItLiesOnWood) {
  const auto built = [](bool known, double cluster_share) {
    QsmBuildResult out{};
    out.radii_known = known;
    out.cluster_share = cluster_share;
    return out;
  };
  EXPECT_TRUE(is_clearer(built(false, 0.7), built(true, 0.69)));
  EXPECT_TRUE(is_clearer(built(false, 0.67), built(false, 0.5)));    // wind
  EXPECT_FALSE(is_clearer(built(false, 0.88), built(false, 0.83)));  // shrubs
  EXPECT_FALSE(is_clearer(built(false, 0.6), built(false, 0.87)));
}

TEST(TreeModelTest, RowsAndThreadsDoNotMatterToATreeInTheWind) {
  SwayingTree tree(0.06, 3);
  for (std::size_t i = 0, n = tree.points.size(); i < n; i += 20) {
    tree.points.push_back(tree.points[i]);  // two scans at one place
    tree.scan.push_back(tree.scan[i] == 2 ? 0 : 2);
  }
  const TreeModel model = Rows(tree).model(true, true, 1);
  std::vector<std::size_t> order(tree.points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(8));
  SwayingTree shuffled = tree;
  for (std::size_t i = 0; i < order.size(); ++i) {
    shuffled.points[i] = tree.points[order[i]];
    shuffled.scan[i] = tree.scan[order[i]];
  }
  const TreeModel other = Rows(shuffled).model(true, true, 2);
  ASSERT_TRUE(model.views && model.views->aligned);
  EXPECT_EQ(volume_of(other), volume_of(model));
  EXPECT_EQ(other.views->spread_m, model.views->spread_m);
}

TEST(TreeModelTest, ColumnsOfAnotherLengthAreRefused) {
  SwayingTree tree(0, 2);
  Rows rows(tree);
  rows.points.pop_back();
  EXPECT_THROW(rows.model(true), Error);
}

TEST(TreeModelTest, ACancelEndsTheSearchForASway) {
  const Rows rows(SwayingTree(0.08, 4));
  JobControl control;
  std::thread killer([&] {
    while (std::string(control.phase.load()) != "Comparing scans") std::this_thread::yield();
    control.cancel_requested = true;
  });
  OpContext ctx(control);
  EXPECT_THROW(tree_model({{rows.points.data(), rows.points.size()},
                           {},
                           nullptr,
                           0,
                           0,
                           {0, 0, 0},
                           60'000,
                           &rows.scan,
                           nullptr,
                           true},
                          kParams, ctx),
               Error);
  killer.join();
}

TEST(WoodViewsTest, KeepsTheViewsWithMostPointsAndGivesThemTheRestOfTheirScan) {
  JobControl control;
  OpContext ctx(control);
  std::vector<ViewStamp> stamps;
  for (int minute = 0; minute < 14; ++minute)
    for (int i = 0; i < (minute == 3 || minute == 7 ? 2 : 20); ++i)
      stamps.push_back({1, 60.0 * minute + 0.1 * i});
  for (int i = 0; i < 3; ++i) stamps.push_back({2, 5});
  stamps.push_back({std::numeric_limits<double>::quiet_NaN(), 0});
  const WoodViews views = wood_views(stamps, ctx);
  EXPECT_EQ(views.count, kMostSwayViews);
  std::vector<std::size_t> points(views.count, 0);
  for (const std::uint32_t view : views.view)
    if (view != kNoView) ++points[view];
  EXPECT_EQ(std::accumulate(points.begin(), points.end(), std::size_t{0}), stamps.size() - 4);
  EXPECT_EQ(views.view.back(), kNoView);
  EXPECT_EQ(views.view[stamps.size() - 2], kNoView);  // no view of its scan is kept
}

TEST(WoodViewsTest, OneScanIsOneView) {
  JobControl control;
  OpContext ctx(control);
  EXPECT_EQ(wood_views({{4, 0}, {4, 0}, {4, 0}}, ctx).count, 1U);
  EXPECT_EQ(wood_views({}, ctx).count, 0U);
}

}  // namespace
}  // namespace pc
