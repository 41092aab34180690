// Stems with a diameter that stand at a wall.
#include "ops/trees/stems_at_walls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"

namespace {

using namespace pc;

struct Scene {
  std::vector<WallTree> trees;
  std::vector<std::vector<Vec3d>> points;

  void add_stem(double x, double y, double z, double radius) {
    trees.push_back({{x, y, z}, radius, false});
    points.push_back({{x, y, z + 1}});
  }
  /// A wall along x at `y`, `step` metres from point to point.
  void add_wall(double y, double from, double to, double low, double high, double step = 0.1) {
    std::vector<Vec3d> wall;
    for (double x = from; x <= to; x += step)
      for (double z = low; z < high; z += step) wall.push_back({x, y, z});
    trees.push_back({{0, 0, 0}, std::nan(""), true});
    points.push_back(std::move(wall));
  }
  std::vector<char> at_walls() const {
    JobControl control;
    const OpContext ctx(control, Device::kCpu, 1);
    return stems_at_walls(
        {trees.data(), trees.size()}, [&](std::size_t i) { return points[i]; }, ctx);
  }
};

TEST(StemsAtWalls, WithinFortyCentimetresOfTheBark) {
  Scene scene;
  for (const double away : {0.05, 0.3, 0.48, 0.52, 1.0}) scene.add_stem(10 * away, away, 0, 0.1);
  scene.add_stem(7, 0.9, 0, 0.55);  // a thick one, whose middle is farther
  scene.add_wall(0, -5, 12, 0, 8);
  EXPECT_EQ(scene.at_walls(), (std::vector<char>{1, 1, 1, 0, 0, 1, 0}));
}

TEST(StemsAtWalls, AWallIsHigherThanACar) {
  for (const double high : {1.9, 2.4, 3.1}) {
    Scene scene;
    scene.add_stem(0, 0.2, 0, 0.1);
    scene.add_wall(0, -2, 2, 0, high);
    EXPECT_EQ(scene.at_walls()[0], high > 3 ? 1 : 0) << high;
  }
  // A gate, with a lintel above; a balcony.
  Scene gate;
  gate.add_stem(0, 0.2, 0, 0.1);
  gate.add_wall(0, -2, 2, 2, 8);
  EXPECT_EQ(gate.at_walls()[0], 0);
}

TEST(StemsAtWalls, HeightsAreThoseAboveItsGround) {
  Scene scene;
  scene.add_stem(0, 0.2, 300, 0.1);
  scene.add_wall(0, -2, 2, 0, 8);
  EXPECT_EQ(scene.at_walls()[0], 0);
  scene.trees[0].place.z = 1;
  EXPECT_EQ(scene.at_walls()[0], 1);
  scene.trees[0].place.z = -300;
  EXPECT_EQ(scene.at_walls()[0], 0);
}

TEST(StemsAtWalls, FlatTreesTogetherAndAtAnyPlace) {
  for (const double far : {0.0, 1e7, 1e15}) {
    Scene scene;
    scene.add_stem(far, far, 0, 0.1);
    for (double z = 0; z < 4; z += 0.5) {
      scene.trees.push_back({{0, 0, 0}, std::nan(""), true});
      scene.points.emplace_back(3, Vec3d{far, far, z + 0.1});
    }
    EXPECT_EQ(scene.at_walls()[0], 1) << far;
    scene.points[3].pop_back();  // of the level from 1 to 1.5 m, two are left
    EXPECT_EQ(scene.at_walls()[0], 0) << far;
  }
}

TEST(StemsAtWalls, WithoutAWallOrADiameterThereIsNone) {
  Scene scene;
  EXPECT_TRUE(scene.at_walls().empty());
  scene.add_stem(0, 0.2, 0, 0.1);
  scene.add_stem(1, 0.2, 0, std::nan(""));
  EXPECT_EQ(scene.at_walls(), (std::vector<char>{0, 0}));
  scene.add_wall(0, -2, 2, 0, 8);
  EXPECT_EQ(scene.at_walls(), (std::vector<char>{1, 0, 0}));
  // A hedge is no wall.
  scene.trees[2].flat = false;
  EXPECT_EQ(scene.at_walls(), (std::vector<char>{0, 0, 0}));
}

TEST(StemsAtWalls, MarksTreesOfAnInventory) {
  Scene scene;
  std::vector<MeasuredTree> trees(4);
  for (std::size_t i = 0; i < 3; ++i) {
    scene.add_stem(static_cast<double>(i), i == 1 ? 2.0 : 0.2, 5, 0.1);
    trees[i].stem.base = scene.trees[i].place + Vec3d{3, 3, 0};
    trees[i].stem.breast_height.emplace();
    trees[i].stem.breast_height->center = scene.trees[i].place + Vec3d{0, 0, 1.3};
    trees[i].stem.breast_height->circle.radius = 0.1;
  }
  trees[2].stem.breast_height.reset();
  scene.add_wall(0, -2, 5, 5, 12);
  trees[3].flat = true;
  JobControl control;
  const OpContext ctx(control, Device::kCpu, 1);
  mark_stems_at_walls(
      trees, [&](std::size_t i) { return scene.points[i]; }, ctx);
  EXPECT_TRUE(trees[0].at_wall);
  EXPECT_FALSE(trees[1].at_wall || trees[2].at_wall || trees[3].at_wall);
}

}  // namespace
