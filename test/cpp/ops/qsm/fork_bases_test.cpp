#include "ops/qsm/fork_bases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace pc {
namespace {

/// A stem of three pieces of 1 m and a branch that rises at 45 degrees from 0.8 m of its axis, as a skeleton has it: from
/// the end of the stem's first piece.
std::vector<QsmCylinder> forked() {
  std::vector<QsmCylinder> out;
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto z = static_cast<double>(i);
    out.push_back({i, {0, 0, z}, {0, 0, z + 1}, 0.1, i - 1, 0, 0});
  }
  out.push_back({3, {0.2, 0, 1.0}, {0.7, 0, 1.5}, 0.02, 1, 1, 1});
  for (QsmCylinder& c : out) c.mad = 0.001;
  return out;
}

TEST(ForkBases, BranchBeginsWhereTheAxesMeet) {
  std::vector<QsmCylinder> tree = forked();
  meet_parents(tree, 0.3);
  EXPECT_EQ(tree[3].parent_id, 0);
  EXPECT_NEAR(tree[3].start.x, 0, 1e-9);
  EXPECT_NEAR(tree[3].start.z, 0.8, 1e-9);
}

TEST(ForkBases, LaterPieceOfTheCarrier) {
  std::vector<QsmCylinder> tree = forked();
  tree[3].parent_id = 0;
  tree[3].start = {0.2, 0, 1.5};
  tree[3].end = {0.7, 0, 2.0};
  meet_parents(tree, 0.3);
  EXPECT_EQ(tree[3].parent_id, 1);
  EXPECT_NEAR(tree[3].start.z, 1.3, 1e-9);
}

TEST(ForkBases, UnfittedStubbyAndStrayBranchesBeginAtTheNearestPoint) {
  for (int kind = 0; kind < 4; ++kind) {
    std::vector<QsmCylinder> tree = forked();
    QsmCylinder& branch = tree[3];
    if (kind == 0) branch.mad = std::nan("");
    if (kind == 1) branch.radius = 0.5;
    if (kind == 2) branch.start.y = branch.end.y = 0.3;  // passes by
    const double reach = kind == 3 ? 0.01 : 0.3;
    if (kind == 3) branch.start.x = 0.6, branch.start.z = 1.4;  // meets only far beyond its start
    const double z = std::max(1.0, branch.start.z);
    meet_parents(tree, reach);
    EXPECT_EQ(branch.parent_id, 1) << kind;
    EXPECT_NEAR(branch.start.x, 0, 1e-12) << kind;
    EXPECT_NEAR(branch.start.z, z, 1e-12) << kind;
  }
}

TEST(ForkBases, NoLengthParallelAxesAndFarPlacesAreNoTrouble) {
  std::vector<QsmCylinder> tree = forked();
  tree[3].start = {0.2, 0, 1};
  tree[3].end = {0.2, 0, 1.5};  // parallel
  tree.push_back({4, {1, 0, 1}, {1, 0, 1}, 0.01, 0, 2, 1});
  tree.push_back({5, {1e7, 0, 1}, {1e7, 1e7, 1}, 0.01, 0, 3, 1});
  tree[4].mad = tree[5].mad = 0.001;
  tree.push_back({6, {0, 0, 0}, {0, 0, 0}, 0.01, -1, 4, 0});
  tree.push_back({7, {0, 1, 0}, {0, 2, 0}, 0.01, 6, 5, 1});
  tree[7].mad = 0.001;
  meet_parents(tree, 0.3);
  for (const QsmCylinder& c : tree) {
    EXPECT_TRUE(std::isfinite(c.start.x + c.start.y + c.start.z)) << c.cyl_id;
    EXPECT_LT(c.parent_id, c.cyl_id);
  }
}

}  // namespace
}  // namespace pc
