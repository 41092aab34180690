#include "ops/trees/trunk_layer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "ops/trees/low_trunk.h"
#include "ops/trees/path_trees.h"
#include "ops/trees/stem_trust.h"
#include "ops/trees/tree_inventory.h"
#include "support/inventory_defaults.h"
#include "support/tree_scene.h"

namespace {

using namespace pc;
using test::Scene;

TrunkLayer layer_of(const std::vector<float>& heights) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  return trunk_layer({heights.data(), heights.size()}, ctx);
}

TEST(TrunkLayer, FollowsTheHeightOfLowTrees) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> heights{kNone, -3, 0.2F};
  EXPECT_EQ(layer_of({}).min_m, 1);
  EXPECT_EQ(layer_of(heights).max_m, 2);
  for (int i = 0; i < 1000; ++i) heights.push_back(0.5F + 0.0035F * static_cast<float>(i + 1));
  EXPECT_NEAR(layer_of(heights).min_m, 0.2, 0.003);
  EXPECT_NEAR(layer_of(heights).max_m, 0.6, 0.007);
  for (int i = 0; i < 5; ++i) heights.push_back(30);  // a mast
  EXPECT_NEAR(layer_of(heights).max_m, 0.6, 0.007);
  for (int i = 0; i < 10; ++i) heights.push_back(std::numeric_limits<float>::infinity());
  EXPECT_EQ(layer_of(heights).min_m, 1);
  EXPECT_EQ(layer_of(heights).max_m, 2);
  EXPECT_DOUBLE_EQ(trunk_layer_of(1).min_m, 0.1);
  EXPECT_DOUBLE_EQ(trunk_layer_of(1).max_m, 0.2);
  EXPECT_DOUBLE_EQ(trunk_layer_of(kLowTree - 1e-9).max_m, 1 - 1.5e-10);
  EXPECT_EQ(trunk_layer_of(kLowTree).min_m, 1);
  EXPECT_EQ(trunk_layer_of(std::nan("")).min_m, 1);
}

constexpr double kTrunk = 0.07, kFork = 0.7;  // metres: radius and height

/// A tree of an orchard: a trunk that parts into five limbs, whose leaves touch those of its neighbours.
void add_vase(Scene& scene, double x, double y, std::uint32_t tree) {
  scene.tube({x, y, 0.05}, {x, y, kFork}, kTrunk, 0.02, tree);
  for (int i = 0; i < 5; ++i) {
    const double angle = 2 * std::numbers::pi * i / 5 + 0.3 * tree;
    const Vec3d out{x + 1.2 * std::cos(angle), y + 1.2 * std::sin(angle), 3.2};
    scene.tube({x, y, kFork}, out, 0.03, 0.02, tree);
    scene.leaves({out.x, out.y, 2.9}, 0.9, 1500, tree);
  }
}

Scene orchard() {
  Scene scene;
  for (std::uint32_t k = 0; k < 6; ++k) add_vase(scene, 4.0 * (k % 3), 5.0 * (k / 3), k + 1);
  return scene;
}

PathTreesResult grow(const Scene& scene, const TrunkLayer& layer) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  return path_trees(scene.points(), {scene.height.data(), scene.height.size()}, {},
                    {0.03, std::nullopt, kPathConstants, layer}, ctx);
}

TEST(TrunkLayer, TreesOfAnOrchardAreFoundByTheirTrunks) {
  const Scene scene = orchard();
  const PathTreesResult found = grow(scene, layer_of(scene.height));
  ASSERT_EQ(found.trees.size(), 6U);
  for (const PathTree& tree : found.trees) {
    EXPECT_EQ(tree.origin, TreeOrigin::kStem);
    EXPECT_NEAR(tree.base.x, 4 * std::round(tree.base.x / 4), 0.05);
    EXPECT_NEAR(tree.base.y, 5 * std::round(tree.base.y / 5), 0.05);
  }
  const auto labels = found.tree_instance.view();
  std::vector<std::vector<double>> counts(7, std::vector<double>(7, 0));
  for (std::size_t i = 0; i < scene.truth.size(); ++i) counts[scene.truth[i]][labels[i]] += 1;
  for (std::size_t tree = 1; tree <= 6; ++tree) {
    double total = 0, most = 0;
    for (const double count : counts[tree]) {
      total += count;
      most = std::max(most, count);
    }
    EXPECT_GT(most / total, 0.97) << tree;
  }
  // Between 1 and 2 m the limbs are the stems.
  EXPECT_GT(grow(scene, {1, 2}).trees.size(), 8U);
}

std::optional<Stem> trunk_of(const Scene& scene, double breast_height_m, double height_m) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const GroundHeights none({}, ctx);
  const std::vector<double> heights(scene.height.begin(), scene.height.end());
  const Span<const Vec3d> points{scene.xyz.data(), scene.xyz.size()};
  const TreeGround ground(points, {heights.data(), heights.size()}, none, ctx);
  StemParams params = inventory_defaults().stem;
  params.breast_height_m = breast_height_m;
  auto trunk = low_trunk(points, ground, params, height_m, ctx);
  if (!trunk) return std::nullopt;
  EXPECT_NEAR(trunk->radius_m, kTrunk, 0.001);
  return std::move(trunk->stem);
}

TEST(LowTrunk, IsMeasuredBelowTheFork) {
  Scene scene;
  add_vase(scene, 3, -2, 1);
  const auto trunk = trunk_of(scene, 0.4, 3.8);
  ASSERT_TRUE(trunk && trunk->breast_height);
  EXPECT_NEAR(trunk->base.x, 3, 0.005);
  EXPECT_NEAR(trunk->base.y, -2, 0.005);
  EXPECT_NEAR(trunk->base.z, 0, 0.005);
  EXPECT_NEAR(trunk->breast_height->circle.radius, kTrunk, 0.001);
  EXPECT_LT(breast_height_sigma(*trunk), 0.004);
  for (const StemSection& section : trunk->curve) EXPECT_LT(section.axial_m, kFork);
  // Where limbs are, there is no diameter, but the base stays.
  const auto above = trunk_of(scene, 1.3, 3.8);
  ASSERT_TRUE(above);
  EXPECT_FALSE(above->breast_height);
  EXPECT_NEAR(above->base.x, 3, 0.005);
}

template <class T>
AnyColumn column_of(const std::vector<T>& values) {
  Column<T> out(values.size());
  std::copy(values.begin(), values.end(), out.view().begin());
  return AnyColumn(std::move(out));
}

TEST(LowTrunk, IsTheDiameterAndPlaceOfTheList) {
  Scene scene = orchard();
  // A shrub of leaves alone beside the last tree has no trunk.
  scene.leaves({12, 0, 1.5}, 1.45, 6000, 7);
  const AnyColumn tree = column_of(scene.truth), height = column_of(scene.height);
  std::vector<double> scans(scene.xyz.size());
  for (std::size_t i = 0; i < scans.size(); ++i) scans[i] = static_cast<double>(i % 2);
  const AnyColumn scan = column_of(scans);
  for (const double at : {0.38, 1.3}) {
    TreeInventoryParams params = inventory_defaults();
    params.stem.breast_height_m = at;
    JobControl control;
    OpContext ctx(control, Device::kCpu, 2);
    const TreeCloud cloud{
        {scene.xyz.data(), scene.xyz.size()}, {0, 0, 0}, {}, &tree, &height, nullptr, &scan};
    const TreeInventoryResult found = tree_inventory(cloud, params, ctx);
    ASSERT_EQ(found.trees.size(), 7U);
    for (std::size_t k = 0; k < 6; ++k) {
      const Stem& stem = found.trees[k].stem;
      const bool is_limb = at > 1 && stem.breast_height;  // of this place no trunk is asked
      EXPECT_NEAR(stem.base.x, 4.0 * static_cast<double>(k % 3), is_limb ? 0.2 : 0.01) << at;
      EXPECT_NEAR(stem.base.y, 5.0 * static_cast<double>(k / 3), is_limb ? 0.2 : 0.01) << at;
      if (at > 1) continue;
      ASSERT_TRUE(stem.breast_height);
      EXPECT_NEAR(stem.breast_height->circle.radius, kTrunk, 0.001);
      EXPECT_LT(found.trees[k].dbh_sigma_m, 0.002);
    }
    EXPECT_FALSE(found.trees[6].stem.breast_height) << at;
    EXPECT_FALSE(found.views) << at;  // trunks of low trees tell nothing of drift
  }
}

TEST(LowTrunk, IsSeenAmongLimbsThatHang) {
  // Limbs as thick as the trunk come down to 0.12 m on all sides, 0.5 to 0.7 m away, with leaves about them.
  Scene scene;
  scene.tube({0, 0, 0.05}, {0, 0, 0.5}, kTrunk, 0.015, 1);
  for (int i = 0; i < 8; ++i) {
    const double angle = 2 * std::numbers::pi * i / 8, away = i % 2 == 0 ? 0.5 : 0.7;
    const Vec3d end{away * std::cos(angle), away * std::sin(angle), 0.12};
    scene.tube({0.3 * end.x, 0.3 * end.y, 0.9}, end, kTrunk, 0.006, 1);
    scene.leaves(end + Vec3d{0, 0, 0.2}, 0.15, 6000, 1);
  }
  scene.leaves({0, 0, 1.6}, 0.8, 4000, 1);
  const auto trunk = trunk_of(scene, 0.25, 2.4);
  ASSERT_TRUE(trunk && trunk->breast_height);
  EXPECT_NEAR(std::hypot(trunk->base.x, trunk->base.y), 0, 0.01);
}

TEST(LowTrunk, OfATreeOnTwoFeetIsLookedForAmongAllPoints) {
  Scene scene;
  scene.tube({-1, 0, 0.05}, {-1, 0, 0.8}, kTrunk, 0.01, 1);
  scene.tube({1, 0, 0.05}, {1, 0, 0.8}, kTrunk, 0.03, 1);
  scene.leaves({0, 0, 1.6}, 0.8, 4000, 1);  // between them nothing stands
  const auto trunk = trunk_of(scene, 0.3, 2.4);
  ASSERT_TRUE(trunk && trunk->breast_height);
  EXPECT_NEAR(std::abs(trunk->base.x), 1, 0.01);
  EXPECT_NEAR(trunk->base.y, 0, 0.01);
}

TEST(LowTrunk, NothingThickerStandsOnIt) {
  // A vine: its trunk of 3 cm parts at 0.7 m, and leaves about its arms make a circle of 0.26 m at breast height.
  Scene scene;
  scene.tube({0, 0, 0.05}, {0, 0, 0.7}, 0.03, 0.01, 1);
  scene.tube({0, 0, 0.7}, {0, 0, 1.9}, 0.13, 0.01, 1);
  const AnyColumn tree = column_of(scene.truth), height = column_of(scene.height);
  TreeInventoryParams params = inventory_defaults();
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const TreeCloud cloud{
      {scene.xyz.data(), scene.xyz.size()}, {0, 0, 0}, {}, &tree, &height, nullptr, nullptr};
  const TreeInventoryResult found = tree_inventory(cloud, params, ctx);
  ASSERT_EQ(found.trees.size(), 1U);
  EXPECT_FALSE(found.trees[0].stem.breast_height);
  EXPECT_TRUE(std::isnan(found.trees[0].dbh_sigma_m));
  EXPECT_NEAR(found.trees[0].stem.base.x, 0, 0.01);
  // At the trunk it has the diameter of the trunk.
  params.stem.breast_height_m = 0.25;
  const TreeInventoryResult low = tree_inventory(cloud, params, ctx);
  ASSERT_TRUE(low.trees[0].stem.breast_height);
  EXPECT_NEAR(low.trees[0].stem.breast_height->circle.radius, 0.03, 0.001);
}

TEST(LowTrunk, IsOneOfLowTreesWithATrunk) {
  Scene scene;
  add_vase(scene, 0, 0, 1);
  EXPECT_FALSE(trunk_of(scene, 0.4, 12));
  EXPECT_FALSE(trunk_of(scene, 0.4, 0));
  EXPECT_FALSE(trunk_of(scene, 0.4, std::nan("")));
  Scene leaves;
  leaves.leaves({0, 0, 2}, 1.95, 20'000, 1);
  EXPECT_FALSE(trunk_of(leaves, 0.4, 3.8));
}

}  // namespace
