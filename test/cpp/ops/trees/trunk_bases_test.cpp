#include "ops/trees/trunk_bases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <vector>

#include "ops/trees/path_trees.h"
#include "support/tree_scene.h"

namespace {

using namespace pc;
using test::Scene;

constexpr double kFork = 0.7;  // metres

/// A tree of an orchard: four limbs rise, a fifth hangs to 0.15 m above the ground and has leaves.
void add_tree(Scene& scene, double x, double y, std::uint32_t tree) {
  scene.tube({x, y, 0.05}, {x, y, kFork}, 0.07, 0.02, tree);
  for (int i = 0; i < 5; ++i) {
    const double angle = 2 * std::numbers::pi * i / 5 + 0.3 * tree;
    const Vec3d side{std::cos(angle), std::sin(angle), 0}, fork{x, y, kFork};
    const bool hangs = i == 0;
    const Vec3d bend = fork + side * 0.9 + Vec3d{0, 0, hangs ? 0.5 : 1.9};
    const Vec3d end = hangs ? Vec3d{x + 1.1 * side.x, y + 1.1 * side.y, 0.15} : bend + side * 0.3;
    scene.tube(fork, bend, 0.03, 0.02, tree);
    scene.tube(bend, end, 0.03, 0.02, tree);
    scene.leaves(hangs ? end + Vec3d{0, 0, 0.4} : end, hangs ? 0.25 : 0.9, hangs ? 400 : 1500, tree);
  }
}

Scene orchard() {
  Scene scene;
  for (std::uint32_t k = 0; k < 6; ++k) add_tree(scene, 4.0 * (k % 3), 5.0 * (k / 3), k + 1);
  return scene;
}

PathTreesResult grow(const Scene& scene) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const Span<const float> heights{scene.height.data(), scene.height.size()};
  const TrunkLayer layer = trunk_layer(heights, ctx);
  return path_trees(scene.points(), heights, {}, {0.03, std::nullopt, kPathConstants, layer}, ctx);
}

/// Of the points of a tree, the part that has its most frequent label.
double kept(const Scene& scene, const PathTreesResult& found, std::uint32_t tree) {
  std::vector<double> counts(found.trees.size() + 1, 0);
  double total = 0;
  for (std::size_t i = 0; i < scene.truth.size(); ++i) {
    if (scene.truth[i] != tree) continue;
    counts[found.tree_instance.view()[i]] += 1;
    total += 1;
  }
  return *std::max_element(counts.begin(), counts.end()) / total;
}

TEST(TrunkBases, LimbsThatHangNearlyToTheGroundAreOfTheirTree) {
  const Scene scene = orchard();
  const PathTreesResult found = grow(scene);
  EXPECT_EQ(found.trees.size(), 6U);
  for (std::uint32_t tree = 1; tree <= 6; ++tree) EXPECT_GT(kept(scene, found, tree), 0.98) << tree;
}

TEST(TrunkBases, APlantThatStandsOnTheGroundIsItsOwn) {
  Scene scene = orchard();
  scene.leaves({2, 2.5, 0.7}, 0.66, 4000, 7);                // a bush among the trees, of leaves alone
  scene.tube({6, 2.5, 0.05}, {6, 2.5, 1.2}, 0.01, 0.02, 8);  // a young tree
  scene.leaves({6, 2.5, 1.2}, 0.4, 800, 8);
  const PathTreesResult found = grow(scene);
  EXPECT_EQ(found.trees.size(), 8U);
  for (std::uint32_t tree = 1; tree <= 8; ++tree) EXPECT_GT(kept(scene, found, tree), 0.97) << tree;
}

struct Begins {
  double top_m;
  std::vector<bool> is_limb;
};

/// What is told of stems that begin at these heights.
Begins told(const std::vector<float>& heights) {
  PathNodes nodes{};
  nodes.edge_m = 0.03;
  nodes.height = BulkVector<float>(2 * heights.size());
  std::vector<PathStart> starts;
  for (std::uint32_t i = 0; i < 2 * heights.size(); ++i) {
    nodes.height[i] = heights[i / 2] + (i % 2 == 0 ? 0.1F : 0.0F);
    starts.push_back({i, i / 2, 0});
  }
  const double top_m = tell_limbs(nodes, heights.size(), kPathConstants, starts);
  Begins out{top_m, {}};
  for (std::size_t i = 0; i < starts.size(); i += 2) {
    EXPECT_EQ(starts[i].cost, starts[i + 1].cost);
    EXPECT_TRUE(starts[i].cost == 0 || starts[i].cost == std::pow(kPathConstants.limb_cost_m, 2));
    out.is_limb.push_back(starts[i].cost > 0);
  }
  return out;
}

TEST(TrunkBases, TheEndFollowsHowSparselyTrunksAreSeen) {
  const Begins dense = told({0.05F, 0.06F, 0.05F, 0.05F, 0.06F, 0.05F, 0.05F, 0.17F});
  EXPECT_NEAR(dense.top_m, 0.06 + 0.03, 1e-6);
  EXPECT_EQ(dense.is_limb, (std::vector<bool>{false, false, false, false, false, false, false, true}));
  // Of trunks with a point every 0.1 m none is a limb.
  const Begins sparse = told({0.05F, 0.07F, 0.09F, 0.11F, 0.13F, 0.15F, 0.06F, 0.14F});
  EXPECT_EQ(sparse.is_limb, std::vector<bool>(8, false));
  EXPECT_NEAR(sparse.top_m, 0.15 + 0.03, 1e-6);
  EXPECT_EQ(told({0.5F, 0.6F, 0.7F, 0.5F}).top_m, kPathConstants.low_m);
  // Trunks that grass hides up to half a metre are none, either.
  const Begins hidden = told({0.5F, 0.51F, 0.5F, 0.52F, 0.9F});
  EXPECT_EQ(hidden.top_m, kPathConstants.low_m);
  EXPECT_EQ(hidden.is_limb, (std::vector<bool>{false, false, false, false, true}));
}

TEST(TrunkBases, FewTrunksAndUnknownHeightsTellNothing) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  for (const auto& heights :
       {std::vector<float>{},
        {0.05F, 0.4F},
        {none, none, none},
        {none, 0.05F, 0.4F},
        {0.05F, 0.05F, 0.05F, 0.2F, 0.21F, 0.22F, 0.23F, 0.24F, 0.25F, 0.26F, 0.27F, 0.28F, 0.29F}}) {
    const Begins few = told(heights);
    EXPECT_EQ(few.top_m, kPathConstants.low_m);
    EXPECT_EQ(few.is_limb, std::vector<bool>(heights.size(), false));
  }
  EXPECT_EQ(told({0.05F, 0.05F, 0.05F, none}).is_limb, std::vector<bool>(4, false));
}

}  // namespace
