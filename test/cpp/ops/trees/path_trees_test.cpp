#include "ops/trees/path_trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <random>
#include <set>

#include "core/error.h"
#include "ops/trees/path_nodes.h"
#include "support/cancel.h"
#include "support/fuzz_runs.h"
#include "support/tree_scene.h"

namespace {

using namespace pc;
using test::Scene;

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

PathTreesResult grow(const Scene& scene, const std::vector<Vec3d>& seeds = {}, int threads = 2,
                     const PathConstants& constants = kPathConstants) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return path_trees(scene.points(), {scene.height.data(), scene.height.size()}, {seeds.data(), seeds.size()},
                    {constants.finest_node_m, std::nullopt, constants}, ctx);
}

std::vector<std::uint32_t> labels_of(const PathTreesResult& result) {
  const auto view = result.tree_instance.view();
  return {view.begin(), view.end()};
}

/// Share of the points of each true tree that the label most of them have holds; 0 if two trees share that label.
std::map<std::uint32_t, double> shares(const Scene& scene, const std::vector<std::uint32_t>& labels) {
  std::map<std::uint32_t, std::map<std::uint32_t, double>> counts;
  std::map<std::uint32_t, double> total, found;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    counts[scene.truth[i]][labels[i]] += 1;
    total[scene.truth[i]] += 1;
  }
  std::set<std::uint32_t> used;
  for (const auto& [tree, by_label] : counts) {
    const auto most = std::max_element(by_label.begin(), by_label.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    found[tree] = used.insert(most->first).second ? most->second / total[tree] : 0;
  }
  return found;
}

/// Two trees whose limbs reach past each other at different heights, a bush, and herbs.
Scene two_trees() {
  Scene scene;
  for (std::uint32_t tree = 1; tree <= 2; ++tree) {
    const double x = tree == 1 ? 0 : 4, to = tree == 1 ? 3.2 : 0.8;
    scene.stem(x, 0, 0.15, 9, tree);
    for (double z = tree == 1 ? 4.0 : 4.7; z < 9; z += 1.4) {
      scene.tube({x, 0, z}, {to, 0.3, z + 0.5}, 0.02, 0.03, tree);
      scene.leaves({to, 0.3, z + 0.5}, 0.25, 150, tree);
    }
  }
  scene.tube({2, 2, 0.05}, {2, 2, 0.6}, 0.01, 0.03, 3);
  scene.leaves({2, 2, 1.1}, 0.5, 800, 3);
  return scene;
}

TEST(PathTrees, LimbsThatReachPastEachOther) {
  const Scene scene = two_trees();
  const PathTreesResult result = grow(scene);
  for (const auto& [tree, share] : shares(scene, labels_of(result))) EXPECT_GT(share, 0.97) << tree;
  ASSERT_EQ(result.trees.size(), 3U);
  EXPECT_EQ(result.trees[0].origin, TreeOrigin::kStem);
  EXPECT_EQ(result.trees[1].origin, TreeOrigin::kBase);
  EXPECT_EQ(result.trees[2].origin, TreeOrigin::kStem);
  EXPECT_NEAR(result.trees[0].base.x, 0, 0.1);
  EXPECT_NEAR(result.trees[1].base.x, 2, 0.1);
  EXPECT_NEAR(result.trees[2].base.x, 4, 0.1);
  EXPECT_NEAR(result.trees[1].height_m, 1.6, 0.1);
  std::uint64_t points = 0;
  for (const PathTree& tree : result.trees) points += tree.point_count;
  EXPECT_EQ(points, static_cast<std::uint64_t>(std::count_if(result.tree_instance.view().begin(),
                                                             result.tree_instance.view().end(),
                                                             [](std::uint32_t l) { return l != 0; })));
}

TEST(PathTrees, HerbsAreNoTrees) {
  Scene scene = two_trees();
  const std::size_t trees = scene.xyz.size();
  for (int i = 0; i < 20; ++i) scene.leaves({-4.0 + 0.5 * i, -3, 0.2}, 0.18, 60, 0);
  const PathTreesResult result = grow(scene);
  EXPECT_EQ(result.trees.size(), 3U);
  const auto labels = labels_of(result);
  EXPECT_EQ(std::count(labels.begin() + static_cast<std::ptrdiff_t>(trees), labels.end(), 0U),
            static_cast<std::ptrdiff_t>(labels.size() - trees));
}

/// Shrubs of .9 m that touch each other all over 9 m, and a young tree of 2.5 m among them.
Scene thicket() {
  Scene scene = two_trees();
  for (int i = 0; i < 18; ++i) {
    for (int j = 0; j < 6; ++j) {
      const double x = -4 + 0.5 * i, y = -3 - 0.5 * j;
      scene.tube({x, y, 0.02}, {x, y, 0.5}, 0.01, 0.03, 0);
      scene.leaves({x, y, 0.5}, 0.38, 250, 0);
    }
  }
  scene.tube({0.25, -4.25, 0.02}, {0.25, -4.25, 2.2}, 0.01, 0.02, 4);
  scene.leaves({0.25, -4.25, 1.9}, 0.5, 1500, 4);
  return scene;
}

TEST(PathTrees, ShrubsThatTouchAreNotOneTree) {
  const Scene scene = thicket();
  const PathTreesResult result = grow(scene);
  ASSERT_EQ(result.trees.size(), 4U);
  EXPECT_GT(shares(scene, labels_of(result)).at(4), 0.9);
  // A square of 9 by 3 m in cells of .225 m, without what belongs to the young tree.
  EXPECT_NEAR(result.carpet.area_m2, 27, 6);
  const auto labels = labels_of(result);
  const auto shrubs = static_cast<std::uint64_t>(std::count(labels.begin(), labels.end(), 0U));
  EXPECT_NEAR(static_cast<double>(result.carpet.point_count), static_cast<double>(shrubs), 200);
  EXPECT_GT(shrubs, 25'000U);
  EXPECT_EQ(grow(two_trees()).carpet.area_m2, 0);
}

/// The label that most points of a part have.
std::uint32_t label_of(const Scene& scene, const std::vector<std::uint32_t>& labels, std::uint32_t part) {
  std::map<std::uint32_t, int> counts;
  for (std::size_t i = 0; i < labels.size(); ++i) counts[labels[i]] += scene.truth[i] == part ? 1 : 0;
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

TEST(PathTrees, PathsPreferWhatIsDenseToAGap) {
  Scene scene;
  scene.stem(-3, 0, 0.1, 6, 1);
  scene.stem(3, 0, 0.1, 6, 2);
  // A limb of the left tree that ends 0.25 m from the right stem: 5.6 m of path against one gap.
  scene.tube({-3, 0, 4}, {1.6, 0, 4.2}, 0.01, 0.03, 1);
  scene.tube({1.6, 0, 4.2}, {2.65, 0, 4.3}, 0.01, 0.03, 3);
  const auto labels = labels_of(grow(scene));
  EXPECT_EQ(label_of(scene, labels, 3), label_of(scene, labels, 1));
  EXPECT_NE(label_of(scene, labels, 1), label_of(scene, labels, 2));
}

TEST(PathTrees, PathsDoNotTurnBack) {
  // The tip of a limb of the left tree touches the end of a longer limb of the right one. A side branch of that limb
  // points away from the right stem, back towards the left one, which has the shorter path to it.
  Scene scene;
  scene.stem(2.2, 0, 0.1, 6, 1);
  scene.stem(6.6, 0, 0.1, 6, 2);
  scene.tube({2.2, 0, 4}, {3.1, 0, 4.19}, 0.01, 0.03, 3);
  scene.tube({6.6, 0, 4}, {2.9, 0, 4.2}, 0.01, 0.03, 4);
  scene.tube({4, 0, 4.15}, {3, 1.2, 4.4}, 0.01, 0.03, 5);
  const auto labels = labels_of(grow(scene));
  PathConstants straight = kPathConstants;
  straight.turn_cost = 0;
  const auto careless = labels_of(grow(scene, {}, 2, straight));
  EXPECT_EQ(label_of(scene, labels, 5), label_of(scene, labels, 2));
  EXPECT_EQ(label_of(scene, careless, 5), label_of(scene, careless, 1));
}

TEST(PathTrees, LimbThatLooksLikeAStem) {
  Scene scene;
  scene.stem(0, 0, 0.15, 6, 1);
  scene.tube({0.15, 0, 1.4}, {0.8, 0, 1.05}, 0.02, 0.03, 1);
  scene.tube({0.8, 0, 1.0}, {0.8, 0, 2.4}, 0.06, 0.02, 1);
  EXPECT_EQ(grow(scene).trees.size(), 1U);
  PathConstants stems_alone = kPathConstants;
  stems_alone.limb_cost_m = 0;
  EXPECT_EQ(grow(scene, {}, 2, stems_alone).trees.size(), 2U);
}

TEST(PathTrees, IslandsJoinTheNearestTree) {
  Scene scene;
  scene.stem(0, 0, 0.1, 5, 1);
  scene.stem(6, 0, 0.1, 5, 2);
  scene.leaves({1.2, 0, 4}, 0.3, 400, 1);  // 0.8 m from the left stem
  scene.leaves({4.9, 0, 4}, 0.3, 400, 2);
  scene.leaves({3.0, 5, 4}, 0.05, 20, 0);  // too far and too few for a tree
  for (const auto& [tree, share] : shares(scene, labels_of(grow(scene)))) EXPECT_GT(share, 0.99) << tree;
  EXPECT_EQ(grow(scene).trees.size(), 2U);
}

TEST(PathTrees, CrownsWithoutAnythingBelow) {
  Scene scene;
  std::uniform_real_distribution<double> u(-1, 1);
  for (std::uint32_t tree = 1; tree <= 3; ++tree) {
    for (int i = 0; i < 3000; ++i) {
      const double dx = 2 * u(scene.random), dy = 2 * u(scene.random);
      if (dx * dx + dy * dy > 4) continue;
      scene.add({3.6 * tree + dx, dy, 14 - 0.7 * (dx * dx + dy * dy)}, tree);
    }
  }
  const PathTreesResult result = grow(scene);
  ASSERT_EQ(result.trees.size(), 3U);
  for (const PathTree& tree : result.trees) EXPECT_EQ(tree.origin, TreeOrigin::kCrown);
  for (const auto& [tree, share] : shares(scene, labels_of(result))) EXPECT_GT(share, 0.9) << tree;
  Scene unknown = scene;
  std::fill(unknown.height.begin(), unknown.height.end(), kUnknown);
  EXPECT_EQ(grow(unknown).trees.size(), 3U);
}

TEST(PathTrees, TheSameForAnyOrderThreadsAndPlace) {
  const Scene scene = two_trees();
  const auto labels = labels_of(grow(scene));
  EXPECT_EQ(labels_of(grow(scene, {}, 1)), labels);
  EXPECT_EQ(labels_of(grow(scene, {}, 5)), labels);
  PathConstants coarse = kPathConstants;
  coarse.finest_node_m = 0.1;  // many points of a node
  const auto coarse_labels = labels_of(grow(scene, {}, 2, coarse));
  std::vector<std::size_t> order(scene.xyz.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(3));
  Scene shuffled, far, mirrored;
  for (const std::size_t i : order) shuffled.add(scene.xyz[i], 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    far.add(scene.xyz[i] + Vec3d{5e6, -5e6, 0}, 0);
    mirrored.add({scene.xyz[i].x, -scene.xyz[i].y, scene.xyz[i].z}, 0);
  }
  const auto coarse_shuffled = labels_of(grow(shuffled, {}, 2, coarse));
  const auto of_shuffled = labels_of(grow(shuffled)), of_far = labels_of(grow(far)),
             of_mirrored = labels_of(grow(mirrored));
  std::size_t moved = 0, turned = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(of_shuffled[i], labels[order[i]]);
    EXPECT_EQ(coarse_shuffled[i], coarse_labels[order[i]]);
    moved += of_far[i] != labels[i] ? 1 : 0;
    turned += of_mirrored[i] != labels[i] ? 1 : 0;
  }
  EXPECT_LT(static_cast<double>(moved), 0.001 * static_cast<double>(order.size()));
  EXPECT_LT(static_cast<double>(turned), 0.001 * static_cast<double>(order.size()));
}

TEST(PathTrees, NodesAreTheSameForAnyOrder) {
  const Scene scene = two_trees();
  std::vector<std::size_t> order(scene.xyz.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(4));
  Scene shuffled;
  for (const std::size_t i : order) shuffled.add(scene.xyz[i], 0);
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const auto nodes_of = [&](const Scene& s) {
    return path_nodes(s.points(), {s.height.data(), s.height.size()}, 0.2, std::nullopt, ctx);
  };
  const PathNodes nodes = nodes_of(scene), again = nodes_of(shuffled);
  ASSERT_EQ(nodes.size(), again.size());
  EXPECT_LT(nodes.size(), scene.xyz.size() / 3);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    EXPECT_EQ(nodes.place[i], again.place[i]);
    EXPECT_EQ(nodes.height[i], again.height[i]);
  }
  std::vector<Vec3d> sums(nodes.size(), {0, 0, 0});
  for (std::size_t i = 0; i < scene.xyz.size(); ++i)
    sums[nodes.node_of[i]] = sums[nodes.node_of[i]] + (scene.xyz[i] - nodes.origin);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    EXPECT_LT(squared_distance(sums[i] * (1.0 / nodes.points[i]), nodes.place[i]), 2e-10);
}

TEST(PathTrees, SeedsAreTheTreesInTheirOrder) {
  const Scene scene = two_trees();
  const PathTreesResult result = grow(scene, {{4.1, 0.1, 1.3}, {0, 0.2, 0.2}});
  ASSERT_EQ(result.trees.size(), 2U);
  EXPECT_EQ(result.trees[0].origin, TreeOrigin::kSeed);
  EXPECT_NEAR(result.trees[0].base.x, 4, 0.1);
  EXPECT_NEAR(result.trees[1].base.x, 0, 0.1);
  Scene without_bush;
  std::vector<std::uint32_t> labels;
  for (std::size_t i = 0; i < scene.xyz.size(); ++i) {
    if (scene.truth[i] == 3) continue;
    without_bush.add(scene.xyz[i], scene.truth[i]);
    labels.push_back(result.tree_instance[i]);
  }
  for (const auto& [tree, share] : shares(without_bush, labels)) EXPECT_GT(share, 0.97) << tree;
  EXPECT_EQ(labels[0], 2U);
  const PathTreesResult far = grow(scene, {{0, 0, 1}, {500, 500, 1}});
  ASSERT_EQ(far.trees.size(), 2U);
  EXPECT_EQ(far.trees[1].point_count, 0U);
}

TEST(PathTrees, SmallAndStrangeClouds) {
  Scene scene;
  EXPECT_TRUE(grow(scene).trees.empty());
  EXPECT_EQ(grow(scene, {{1, 2, 3}}).trees.size(), 1U);
  scene.add({1, 2, 9}, 0);
  EXPECT_EQ(labels_of(grow(scene)), std::vector<std::uint32_t>{0});
  EXPECT_EQ(labels_of(grow(scene, {{1, 2, 8.5}})), std::vector<std::uint32_t>{1});
  Scene equal, line, nan;
  for (int i = 0; i < 5000; ++i) {
    equal.add({7, 7, 2}, 1);
    line.add({0.01 * i, 0, 2}, 1);
    nan.add({std::nan(""), 0, 0}, 0);
  }
  const auto one = labels_of(grow(equal));
  EXPECT_EQ(std::count(one.begin(), one.end(), 1U), 5000);
  EXPECT_FALSE(grow(line).trees.empty());
  EXPECT_TRUE(grow(nan).trees.empty());
  Scene apart = two_trees();
  apart.add({1e7, 1e7, 5}, 0);
  EXPECT_EQ(grow(apart).trees.size(), 3U);
}

TEST(PathTrees, RandomCloudsHaveLabelsOfTheirTrees) {
  const std::uint64_t runs = test::fuzz_runs(100);
  std::uint64_t run = 0;  // coordinates beyond what the search for stems takes are refused
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    Scene scene;
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<float> height(-1, 6);
    for (const Vec3d& p : test::hostile_cloud(seed, 300)) {
      scene.add(p, 0);
      const auto kind = random() % 8;
      scene.height.back() = kind == 0   ? kUnknown
                            : kind == 1 ? std::numeric_limits<float>::infinity()
                                        : height(random);
    }
    std::vector<Vec3d> seeds;
    if (seed % 3 == 0 && !scene.xyz.empty() && is_finite(scene.xyz[0])) seeds.push_back(scene.xyz[0]);
    PathTreesResult result;
    try {
      result = grow(scene, seeds, 2);
      ++run;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << seed << ": " << error.what();
      continue;
    }
    std::vector<std::uint64_t> counts(result.trees.size() + 1, 0);
    for (const std::uint32_t label : result.tree_instance.view()) {
      ASSERT_LE(label, result.trees.size()) << seed;
      ++counts[label];
    }
    for (std::size_t k = 0; k < result.trees.size(); ++k)
      EXPECT_EQ(counts[k + 1], result.trees[k].point_count) << seed;
  }
  EXPECT_GT(run, runs / 2);
}

TEST(PathTrees, NodesAreBounded) {
  Scene scene;
  std::uniform_real_distribution<double> u(0, 20);
  for (int i = 0; i < 100'000; ++i) scene.add({u(scene.random), u(scene.random), u(scene.random)}, 0);
  PathConstants few = kPathConstants;
  few.most_nodes = 30'000;
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  EXPECT_EQ(path_node_size(scene.points(), kPathConstants, ctx), kPathConstants.finest_node_m);
  const double edge = path_node_size(scene.points(), few, ctx);
  std::set<std::array<int, 3>> cells;  // of the lattice through 10, 10, 10: as good as any
  for (const Vec3d& p : scene.xyz)
    cells.insert({static_cast<int>(p.x / edge), static_cast<int>(p.y / edge), static_cast<int>(p.z / edge)});
  EXPECT_NEAR(static_cast<double>(cells.size()), 28'000, 3'500);
  std::reverse(scene.xyz.begin(), scene.xyz.end());
  EXPECT_EQ(path_node_size(scene.points(), few, ctx), edge);
}

TEST(PathTrees, ManySmallTrees) {
  std::uint64_t trees[2];
  for (int size = 0; size < 2; ++size) {
    Scene scene;
    const int side = 20 << size;
    for (int i = 0; i < side * side; ++i) {
      const double x = 1.5 * (i % side), y = 1.5 * (i / side);
      for (double z = 0.05; z < 1.5; z += 0.04) scene.add({x + 0.01 * z, y, z}, 0);
    }
    trees[size] = grow(scene).trees.size();
  }
  EXPECT_EQ(trees[0], 400U);
  EXPECT_EQ(trees[1], 1600U);
}

TEST(PathTrees, CancelsInEveryPhase) {
  Scene scene;
  std::uniform_real_distribution<double> u(0, 12);
  for (int i = 0; i < 130'000; ++i) scene.add({u(scene.random), u(scene.random), u(scene.random)}, 0);
  for (const char* phase : {"Gathering voxels", "Joining neighbours", "Finding paths"}) {
    test::expect_cancel_in_phase(phase, [&](OpContext& ctx) {
      path_trees(scene.points(), {scene.height.data(), scene.height.size()}, {},
                 {kPathConstants.finest_node_m, std::nullopt, kPathConstants}, ctx);
    });
  }
}

TEST(PathTrees, RejectsWhatItCannotUse) {
  Scene scene;
  scene.add({0, 0, 1}, 0);
  EXPECT_THROW(grow(scene, {{std::nan(""), 0, 0}}), Error);
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  for (const double edge : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(
        path_trees(scene.points(), {scene.height.data(), 1}, {}, {edge, std::nullopt, kPathConstants}, ctx),
        Error);
  }
  EXPECT_THROW(path_trees(scene.points(), {}, {}, {0.03, std::nullopt, kPathConstants}, ctx), Error);
  EXPECT_THROW(path_trees(scene.points(), {scene.height.data(), 1}, {},
                          {0.03, Vec3d{HUGE_VAL, 0, 0}, kPathConstants}, ctx),
               Error);
}

}  // namespace
