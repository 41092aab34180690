#include "spatial/kd_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/knn_clouds.h"

namespace pc {
namespace {

using kd_tree::Leaf;
using kd_tree::Node;
using test::SpacingCloud;

KdTree tree_of(const SpacingCloud& cloud, int threads) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return KdTree(cloud.view(), ctx);
}

/// Each node's box is tight around its points, and its children share them.
void expect_tight(const KdTree& tree, std::uint32_t number, std::vector<std::uint64_t>& rows,
                  const char* name) {
  const Node& node = tree.view().nodes[number];
  Box3d box;
  const std::size_t first = rows.size();
  if (node.left == 0) {
    const Leaf leaf = tree.view().leaf(node);
    ASSERT_GE(leaf.count, 1U) << name;
    ASSERT_LE(leaf.count, kd_tree::kLeafPoints) << name;
    for (std::uint32_t i = 0; i < leaf.count; ++i) {
      box.add(Vec3d{leaf.x[i], leaf.y[i], leaf.z[i]});
      rows.push_back(leaf.row[i]);
    }
  } else {
    const Node &left = tree.view().nodes[node.left], &right = tree.view().nodes[node.left + 1];
    ASSERT_EQ(node.begin, left.begin) << name;
    ASSERT_EQ(left.end, right.begin) << name;
    ASSERT_EQ(right.end, node.end) << name;
    expect_tight(tree, node.left, rows, name);
    expect_tight(tree, node.left + 1, rows, name);
    box.add(Box3d{left.min, left.max});
    box.add(Box3d{right.min, right.max});
  }
  EXPECT_EQ(node.least_row, *std::min_element(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end()))
      << name;
  EXPECT_EQ(node.min, box.min) << name;
  EXPECT_EQ(node.max, box.max) << name;
}

TEST(KdTree, HoldsEveryFiniteRowOnceInTightBoxes) {
  for (const SpacingCloud& cloud : test::knn_clouds(2000, 17)) {
    const KdTree tree = tree_of(cloud, 3);
    std::vector<std::uint64_t> finite, rows;
    for (std::size_t i = 0; i < cloud.points.size(); ++i)
      if (is_finite(cloud.points[i])) finite.push_back(i);
    ASSERT_EQ(tree.size(), finite.size()) << cloud.name;
    if (finite.empty()) {
      EXPECT_EQ(tree.leaves().size, 0U) << cloud.name;
      continue;
    }
    expect_tight(tree, 0, rows, cloud.name.c_str());
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(rows, finite) << cloud.name;
  }
}

TEST(KdTree, BlocksDivideTheLeavesInTheOrderOfTheirSlots) {
  for (const SpacingCloud& cloud : test::knn_clouds(2000, 18)) {
    const KdTree tree = tree_of(cloud, 2);
    const Node* const nodes = tree.view().nodes;
    for (std::size_t i = 1; i < tree.leaves().size; ++i)
      ASSERT_EQ(nodes[tree.leaves()[i - 1]].end, nodes[tree.leaves()[i]].begin) << cloud.name;
    const std::vector<std::size_t> one = tree.leaf_blocks(1), some = tree.leaf_blocks(200);
    EXPECT_EQ(one.size(), tree.leaves().size + 1) << cloud.name;
    ASSERT_EQ(some.back(), tree.leaves().size) << cloud.name;
    EXPECT_EQ(tree.leaf_blocks(1'000'000).size(), tree.size() > 0 ? 2U : 1U) << cloud.name;
    for (std::size_t b = 0; b + 1 < some.size(); ++b) {
      ASSERT_LT(some[b], some[b + 1]) << cloud.name;
      EXPECT_LE(nodes[tree.leaves()[some[b + 1] - 1]].end - nodes[tree.leaves()[some[b]]].begin, 200U)
          << cloud.name;
    }
  }
}

TEST(KdTree, LeavesKeepThePositionsOfTheirRows) {
  for (const SpacingCloud& cloud : test::knn_clouds(500, 19)) {
    const KdTree tree = tree_of(cloud, 1);
    std::uint64_t seen = 0;
    for (const std::uint32_t number : tree.leaves()) {
      const Leaf leaf = tree.view().leaf(tree.view().nodes[number]);
      for (std::uint32_t i = 0; i < leaf.count; ++i)
        ASSERT_EQ((Vec3d{leaf.x[i], leaf.y[i], leaf.z[i]}), cloud.points[leaf.row[i]]) << cloud.name;
      seen += leaf.count;
    }
    EXPECT_EQ(seen, tree.size()) << cloud.name;
  }
}

TEST(KdTree, DoesNotDependOnThreads) {
  SpacingCloud cloud{"cube", {}};
  for (std::size_t i = 0; i < 200'000; ++i) cloud.points.push_back(test::random_point(5, i));
  const KdTree one = tree_of(cloud, 1), four = tree_of(cloud, 4);
  ASSERT_EQ(one.leaves().size, four.leaves().size);
  for (std::size_t i = 0; i < one.leaves().size; ++i) {
    ASSERT_EQ(one.leaves()[i], four.leaves()[i]);
    const Leaf a = one.view().leaf(one.view().nodes[one.leaves()[i]]);
    const Leaf b = four.view().leaf(four.view().nodes[four.leaves()[i]]);
    ASSERT_EQ(std::vector<std::uint64_t>(a.row, a.row + a.count),
              std::vector<std::uint64_t>(b.row, b.row + b.count));
  }
}

}  // namespace
}  // namespace pc
