#include "ops/qsm/twin_axes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ops/qsm/shoot_tree.h"

namespace pc {
namespace {

QsmCylinder piece(std::int64_t id, Vec3d start, Vec3d end, double radius, std::int64_t parent,
                  std::int64_t shoot, std::int32_t rank) {
  QsmCylinder c{id, start, end, radius, parent, shoot, rank};
  c.mad = 0.001;
  return c;
}

/// A stem of four pieces of 1 m (0 to 3), and from its second piece an axis of two pieces within it (4, 5), which carries a
/// branch to the side (6).
std::vector<QsmCylinder> doubled() {
  std::vector<QsmCylinder> out;
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto z = static_cast<double>(i);
    out.push_back(piece(i, {0, 0, z}, {0, 0, z + 1}, 0.2, i - 1, 0, 0));
  }
  out.push_back(piece(4, {0.05, 0, 1}, {0.06, 0, 2.1}, 0.19, 1, 1, 1));
  out.push_back(piece(5, {0.06, 0, 2.1}, {0.05, 0.02, 3.2}, 0.18, 4, 1, 1));
  out.push_back(piece(6, {0.1, 0, 3.1}, {1.1, 0, 3.6}, 0.05, 5, 2, 2));
  return out;
}

std::vector<QsmCylinder> single(const std::vector<QsmCylinder>& tree) {
  JobControl control;
  OpContext ctx(control);
  return without_twins(tree, tree, ctx);
}

TEST(TwinAxes, AnAxisWithinAnotherIsTakenOut) {
  std::vector<QsmCylinder> tree = single(doubled());
  ASSERT_EQ(tree.size(), 5U);
  for (std::size_t i = 0; i < tree.size(); ++i) EXPECT_EQ(tree[i].cyl_id, static_cast<std::int64_t>(i));
  const QsmCylinder& branch = tree[4];
  EXPECT_NEAR(branch.end.x, 1.1, 1e-12);
  EXPECT_EQ(branch.parent_id, 3) << "the piece around the end of the axis that carried it";
  EXPECT_EQ(branch.rank, 1);
  EXPECT_EQ(collect_shoots(tree).size(), 2U);
}

TEST(TwinAxes, WhatGoesOnOutsideIsAShootOfItsOwn) {
  std::vector<QsmCylinder> tree = doubled();
  tree[5] = piece(5, {0.06, 0, 2.1}, {0.9, 0, 3.2}, 0.1, 4, 1, 1);  // leaves the stem
  tree[6] = piece(6, {0.9, 0, 3.2}, {1.5, 0, 3.6}, 0.05, 5, 1, 1);  // its continuation
  const std::vector<QsmCylinder> left = single(tree);
  ASSERT_EQ(left.size(), 6U);
  EXPECT_EQ(left[4].parent_id, 2);
  EXPECT_EQ(left[4].rank, 1);
  EXPECT_EQ(left[5].parent_id, 4);
  EXPECT_EQ(left[5].shoot_id, left[4].shoot_id);
}

TEST(TwinAxes, OfTwoAxesOfOneRankTheLongerStays) {
  std::vector<QsmCylinder> tree;
  tree.push_back(piece(0, {0, 0, 0}, {0, 0, 1}, 0.2, -1, 0, 0));
  tree.push_back(piece(1, {0, 0, 1}, {0, 0, 2}, 0.15, 0, 1, 1));
  tree.push_back(piece(2, {0, 0, 1}, {0.02, 0, 3}, 0.15, 0, 2, 1));
  const std::vector<QsmCylinder> left = single(tree);
  ASSERT_EQ(left.size(), 2U);
  EXPECT_NEAR(left[1].end.z, 3, 1e-12);
}

TEST(TwinAxes, ParentsComeFirstWhereTheHostIsLater) {
  std::vector<QsmCylinder> tree;
  tree.push_back(piece(0, {0, 0, 0}, {0, 0, 1}, 0.2, -1, 0, 0));
  tree.push_back(piece(1, {0.05, 0, 0.9}, {0.05, 0, 2.5}, 0.2, 0, 1, 1));  // within 3 and 4
  tree.push_back(piece(2, {0.05, 0, 2.5}, {1, 0, 3}, 0.04, 1, 2, 2));      // carried by it
  tree.push_back(piece(3, {0, 0, 1}, {0, 0, 2}, 0.2, 0, 0, 0));
  tree.push_back(piece(4, {0, 0, 2}, {0, 0, 3}, 0.2, 3, 0, 0));
  const std::vector<QsmCylinder> left = single(tree);
  ASSERT_EQ(left.size(), 4U);
  for (const QsmCylinder& c : left) EXPECT_LT(c.parent_id, c.cyl_id);
  EXPECT_NEAR(left[3].end.x, 1, 1e-12);
  EXPECT_EQ(left[3].parent_id, 2);
}

TEST(TwinAxes, BranchesThinAxesAndUnfittedOnesStay) {
  std::vector<QsmCylinder> tree = doubled();
  tree[4].end = tree[5].start = {0.3, 0, 2.1};
  tree[5].end = {0.7, 0, 3.2};  // a fork with an angle
  EXPECT_TRUE(single(tree).empty());
  tree = doubled();
  for (const std::size_t i : {4, 5}) tree[i].radius = 0.02;
  EXPECT_TRUE(single(tree).empty());
  tree = doubled();
  for (const std::size_t i : {4, 5}) tree[i].mad = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(single(tree).empty());
  EXPECT_TRUE(single({}).empty());
}

}  // namespace
}  // namespace pc
