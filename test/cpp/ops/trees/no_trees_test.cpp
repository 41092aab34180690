// What an inventory makes of walls and posts that a segmentation took for trees.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "ops/trees/flat_trees.h"
#include "support/columns.h"
#include "support/inventory_defaults.h"

namespace {

using namespace pc;

struct Street {
  std::vector<Vec3d> points;
  std::vector<std::uint32_t> ids;
  std::vector<std::uint8_t> ground;
  std::mt19937_64 random{5};

  double unit() { return std::uniform_real_distribution<double>(0, 1)(random); }
  double noise() { return std::normal_distribution<double>(0, 0.005)(random); }
  void add(const Vec3d& p, std::uint32_t id, std::uint8_t ground_class = 2) {
    points.push_back(p);
    ids.push_back(id);
    ground.push_back(ground_class);
  }
  void add_stem(double x, double y, double radius, double height, int count, std::uint32_t id) {
    for (int i = 0; i < count; ++i) {
      const double turn = 2 * std::numbers::pi * unit(), r = radius + noise();
      add({x + r * std::cos(turn), y + r * std::sin(turn), height * unit()}, id);
    }
  }
  void add_crown(double x, double y, int count, std::uint32_t id) {
    for (int i = 0; i < count; ++i) {
      const double r = 3 * std::sqrt(unit()), turn = 2 * std::numbers::pi * unit();
      add({x + r * std::cos(turn), y + r * std::sin(turn), 6 + 4 * unit()}, id);
    }
  }
  void add_ground(double side) {
    for (double x = 0; x <= side; x += 0.25)
      for (double y = 0; y <= side; y += 0.25) add({x, y, 0}, 0, 1);
  }
  TreeInventoryResult measure(const TreeInventoryParams& params = inventory_defaults()) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 2);
    const AnyColumn tree = test::column_of(ids), classes = test::column_of(ground);
    return tree_inventory({{points.data(), points.size()}, {0, 0, 0}, {}, &tree, nullptr, &classes}, params,
                          ctx);
  }
};

/// Trees 1 to 3.
Street trees() {
  Street street;
  street.add_ground(40);
  for (std::uint32_t id = 1; id <= 3; ++id) {
    street.add_stem(8.0 * id, 10, 0.1 + 0.05 * id, 8, 6000, id);
    street.add_crown(8.0 * id, 10, 6000, id);
  }
  return street;
}

TEST(NoTrees, AWallHasNoDiameterAndIsNotOfTheStand) {
  Street street = trees();
  const TreeInventoryResult without = street.measure();
  // A bay of a wall, as of a window or a corner of a house: a circle fits it.
  for (int i = 0; i < 9000; ++i) {
    const double along = 6 * street.unit(), z = 7 * street.unit(), n = street.noise();
    street.add(along < 3 ? Vec3d{15 + along, 30 + n, z} : Vec3d{18 + n, 27 + along, z}, 4);
  }
  street.add_stem(17.9, 29.9, 0.06, 7, 1500, 4);
  const TreeInventoryResult found = street.measure();
  ASSERT_EQ(found.trees.size(), 4U);
  const MeasuredTree& wall = found.trees.back();
  EXPECT_TRUE(wall.flat);
  EXPECT_GT(wall.flat_share, 0.6);
  EXPECT_FALSE(wall.stem.breast_height.has_value());
  EXPECT_TRUE(std::isnan(wall.dbh_sigma_m));
  EXPECT_TRUE(std::none_of(wall.stem.curve.begin(), wall.stem.curve.end(),
                           [](const StemSection& at) { return at.ok; }));
  EXPECT_NEAR(wall.height_m, 7, 0.1);
  EXPECT_GE(wall.crown.hull.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(found.trees[i].flat);
    EXPECT_LT(found.trees[i].flat_share, 0.1);
    EXPECT_FALSE(found.trees[i].no_crown);
    EXPECT_NEAR(2 * found.trees[i].stem.breast_height->circle.radius, 0.2 + 0.1 * static_cast<double>(i + 1),
                0.004);
  }
  EXPECT_EQ(found.stand->crown_area_sum_m2, without.stand->crown_area_sum_m2);
  EXPECT_EQ(found.stand->cover.union_area_m2, without.stand->cover.union_area_m2);
  EXPECT_TRUE(std::isnan(found.stand->competition.hegyi[3]));
}

TEST(NoTrees, APostHasNoCrown) {
  Street street = trees();
  street.add_stem(10, 25, 0.08, 8, 3000, 4);  // with an arm of 1.5 m
  for (int i = 0; i < 300; ++i)
    street.add({10 + 1.5 * street.unit(), 25 + street.noise(), 8 + street.noise()}, 4);
  street.add_stem(20, 25, 0.15, 9, 3000, 5);  // nothing but a stem
  for (const double voxel : {0.1, 0.01, 1.0}) {
    TreeInventoryParams params = inventory_defaults();
    params.crown.voxel_size_m = voxel;
    const TreeInventoryResult found = street.measure(params);
    ASSERT_EQ(found.trees.size(), 5U);
    for (const MeasuredTree& tree : found.trees) {
      EXPECT_TRUE(tree.stem.breast_height.has_value());
      EXPECT_EQ(tree.no_crown, tree.id > 3) << tree.id << " " << voxel;
      EXPECT_FALSE(tree.flat);
    }
  }
}

TEST(NoTrees, AGiantStemIsATree) {
  Street street = trees();
  street.add_stem(30, 30, 1.25, 8, 20'000, 4);
  street.add_crown(30, 30, 6000, 4);
  const MeasuredTree tree = street.measure().trees.back();
  EXPECT_LT(tree.flat_share, kFlatTree);
  EXPECT_FALSE(tree.flat);
  ASSERT_TRUE(tree.stem.breast_height.has_value());
  EXPECT_NEAR(tree.stem.breast_height->circle.radius, 1.25, 0.01);
}

TEST(NoTrees, ASubsetAndFewPoints) {
  Street street = trees();
  for (int i = 0; i < 4000; ++i)
    street.add({15 + 3 * street.unit(), 30 + street.noise(), 5 * street.unit()}, 4);
  for (int i = 0; i < 9; ++i) street.add({30, 30, 0.3 * i}, 5);
  TreeInventoryParams params = inventory_defaults();
  params.min_points = 1;
  const TreeInventoryResult all = street.measure(params);
  ASSERT_EQ(all.trees.size(), 5U);
  EXPECT_TRUE(std::isnan(all.trees.back().flat_share));
  EXPECT_FALSE(all.trees.back().flat);
  params.tree_ids = {4};
  const TreeInventoryResult one = street.measure(params);
  ASSERT_EQ(one.trees.size(), 1U);
  EXPECT_TRUE(one.trees.front().flat);
  EXPECT_EQ(one.trees.front().flat_share, all.trees[3].flat_share);
}

}  // namespace
