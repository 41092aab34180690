#include "ops/trees/stem_merge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "ops/trees/path_trees.h"
#include "support/tree_scene.h"

namespace {

using namespace pc;
using test::Scene;

/// A stem by its place 1.3 m above the ground at z = 5, its lean along x (horizontal per vertical) and its points.
DetectedStem stem(double x, double y, double radius, std::uint32_t points, double lean = 0) {
  const double length = std::hypot(1, lean);
  DetectedStem out{};
  out.position = {x, y, 6.3};
  out.axis = {lean / length, 0, 1 / length};
  out.ground_z = 5;
  out.circle.radius = radius;
  out.circle.inlier_count = points;
  return out;
}

struct Merged {
  MergedStems what;
  std::vector<double> x;  ///< of those that stay
};

Merged merged(std::vector<DetectedStem> stems, bool keep_beside) {
  JobControl control;
  const OpContext ctx(control, Device::kCpu, 1);
  Merged out{merge_stems(stems, keep_beside, ctx), {}};
  for (const DetectedStem& one : stems) out.x.push_back(one.position.x);
  return out;
}

TEST(StemMerge, CulmsBesideEachOtherStayIfTheyAreAskedFor) {
  const std::vector<DetectedStem> culms{stem(0, 0, 0.04, 300), stem(0.15, 0, 0.03, 500),
                                        stem(0.5, 0, 0.04, 100)};
  const Merged rule = merged(culms, false);
  EXPECT_EQ(rule.x, (std::vector<double>{0.15, 0.5}));  // the contract's 0.3 m
  EXPECT_EQ(rule.what.count, 1U);
  EXPECT_EQ(rule.what.beside, 1U);
  const Merged all = merged(culms, true);
  EXPECT_EQ(all.x, (std::vector<double>{0.15, 0, 0.5}));
  EXPECT_EQ(all.what.count + all.what.beside, 0U);
}

TEST(StemMerge, WhatTouchesOrForksIsOne) {
  // The same stem twice, and two limbs of a fork, 0.2 m apart at breast height.
  for (const bool keep : {false, true}) {
    EXPECT_EQ(merged({stem(0, 0, 0.1, 300), stem(0.15, 0, 0.08, 200)}, keep).x, (std::vector<double>{0}));
    for (const double lean :
         {0.25, 0.08, -0.25}) {  // of forks 0.9 m and 0.05 m above the ground, and of stems that meet above
      const Merged fork = merged({stem(-0.1, 0, 0.05, 300, -lean), stem(0.1, 0, 0.05, 200, lean)}, keep);
      EXPECT_EQ(fork.x.size(), keep && lean < 0 ? 2U : 1U) << lean;
      EXPECT_EQ(fork.what.beside, !keep && lean < 0 ? 1U : 0U) << lean;
    }
  }
}

TEST(StemMerge, EveryCulmOfAClumpIsATreeOfMethodAuto) {
  Scene scene;
  for (std::uint32_t k = 0; k < 9; ++k) {
    const double x = 0.2 * (k % 3), y = 0.2 * (k / 3);
    scene.tube({x, y, 0.05}, {x + 0.2 * x, y + 0.2 * y, 9}, 0.035, 0.015, k + 1);
  }
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const Span<const float> heights{scene.height.data(), scene.height.size()};
  const StemDetectionResult rule = detect_stems(scene.points(), heights, {1, 2, 3, 0}, ctx);
  EXPECT_LT(rule.stems.size(), 9U);
  EXPECT_EQ(rule.stems.size() + rule.beside, 9U);
  EXPECT_EQ(rule.rejected[static_cast<std::size_t>(StemRejection::kMerged)], rule.beside);
  const PathTreesResult found =
      path_trees(scene.points(), heights, {}, {0.03, std::nullopt, kPathConstants, {1, 2}}, ctx);
  ASSERT_EQ(found.trees.size(), 9U);
  std::size_t wrong = 0;
  std::vector<std::uint32_t> label_of(10, 0);
  for (std::size_t i = 0; i < scene.truth.size(); ++i)
    if (scene.height[i] > 1 && scene.height[i] < 1.5F)
      label_of[scene.truth[i]] = found.tree_instance.view()[i];
  for (std::size_t i = 0; i < scene.truth.size(); ++i)
    wrong += found.tree_instance.view()[i] != label_of[scene.truth[i]] ? 1 : 0;
  EXPECT_LT(static_cast<double>(wrong), 0.02 * static_cast<double>(scene.truth.size()));
}

}  // namespace
