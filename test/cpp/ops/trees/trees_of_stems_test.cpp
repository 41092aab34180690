#include "ops/trees/trees_of_stems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "core/op_context.h"
#include "support/tree_scene.h"

namespace {

using namespace pc;
using test::Scene;

/// The trees of the stems of a scene, by the x of the stems.
std::vector<std::uint32_t> trees_of(const Scene& scene, const std::vector<std::uint32_t>& labels,
                                    int threads = 2, const TrunkLayer& layer = {1, 2}) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const Span<const float> heights{scene.height.data(), scene.height.size()};
  StemDetectionResult found = detect_stems(scene.points(), heights, {layer.min_m, layer.max_m, 3, 0}, ctx);
  std::sort(found.stems.begin(), found.stems.end(),
            [](const DetectedStem& a, const DetectedStem& b) { return a.position.x < b.position.x; });
  return trees_of_stems(scene.points(), heights, {labels.data(), labels.size()}, found.stems, layer, ctx);
}

Scene three_stems() {
  Scene scene;
  scene.stem(0, 0, 0.15, 6, 7);
  scene.stem(1, 0.2, 0.1, 6, 7);
  scene.stem(3, 0, 0.2, 6, 4'000'000'000U);
  return scene;
}

TEST(TreesOfStems, StemsHaveTheLabelOfTheirPoints) {
  const Scene scene = three_stems();
  EXPECT_EQ(trees_of(scene, scene.truth), (std::vector<std::uint32_t>{7, 7, 4'000'000'000U}));
  EXPECT_EQ(trees_of(scene, scene.truth, 1), trees_of(scene, scene.truth));
}

TEST(TreesOfStems, MostPointsCount) {
  Scene scene = three_stems();
  std::vector<std::uint32_t> labels = scene.truth;
  for (std::size_t i = 0; i < labels.size(); i += 3) labels[i] = 9;
  for (std::size_t i = 1; i < labels.size(); i += 10) labels[i] = 0;
  EXPECT_EQ(trees_of(scene, labels), (std::vector<std::uint32_t>{7, 7, 4'000'000'000U}));
  // Labels above and below the layer do not.
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (scene.height[i] < 0.7F || scene.height[i] > 1.9F) labels[i] = 5;
  EXPECT_EQ(trees_of(scene, labels), (std::vector<std::uint32_t>{7, 7, 4'000'000'000U}));
}

TEST(TreesOfStems, LowTreesAreToldByTheirTrunks) {
  // A leaning trunk that parts into two limbs, and an upright one: between 1 and 2 m there are three stems.
  Scene scene;
  const Vec3d fork{0.1, 0, 0.7};
  scene.tube({0, 0, 0.05}, fork, 0.07, 0.02, 3);
  scene.tube(fork, {-0.5, 0, 2.6}, 0.04, 0.02, 3);
  scene.tube(fork, {0.7, 0, 2.6}, 0.04, 0.02, 3);
  scene.tube({3, 0, 0.05}, {3, 0, 2.8}, 0.06, 0.02, 8);
  EXPECT_EQ(trees_of(scene, scene.truth, 1, {0.15, 0.45}), (std::vector<std::uint32_t>{3, 8}));
  EXPECT_EQ(trees_of(scene, scene.truth).size(), 3U);
  // Points above the layer have no say.
  std::vector<std::uint32_t> labels = scene.truth;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (scene.height[i] > 0.46F) labels[i] = 9;
  EXPECT_EQ(trees_of(scene, labels, 1, {0.15, 0.45}), (std::vector<std::uint32_t>{3, 8}));
}

TEST(TreesOfStems, WithoutLabelsOrPointsThereAreNone) {
  const Scene scene = three_stems();
  EXPECT_EQ(trees_of(scene, std::vector<std::uint32_t>(scene.xyz.size(), 0)),
            (std::vector<std::uint32_t>{0, 0, 0}));
  EXPECT_TRUE(trees_of(Scene{}, {}).empty());
  EXPECT_THROW(trees_of(scene, {1, 2}), Error);
}

}  // namespace
