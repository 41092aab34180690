#include "spatial/kd_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "spatial/kd_tree_deal.h"
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

/// Large clouds, whose first splits are dealt, that a sample tells little of.
std::vector<SpacingCloud> large_clouds() {
  constexpr std::size_t kCount = kd_tree::kLeastDealt + 777;
  const auto cloud = [&](const char* name, const auto& point) {
    SpacingCloud out{name, {}};
    for (std::size_t i = 0; i < kCount; ++i) out.points.push_back(point(i));
    return out;
  };
  const double nan = std::nan("");
  return {
      cloud("cube", [](std::size_t i) { return test::random_point(5, i); }),
      cloud("raster",
            [](std::size_t i) {
              return Vec3d{double(i % 1024), double(i / 1024), 0};
            }),
      cloud("one place",
            [](std::size_t) {
              return Vec3d{1, 2, 3};
            }),
      cloud("mostly one place, with a far point",
            [](std::size_t i) {
              return i == 7 ? Vec3d{1e7, 0, 0} : i % 5 == 0 ? test::random_point(6, i) : Vec3d{0.5, 0.5, 0.5};
            }),
      cloud("holes",
            [&](std::size_t i) {
              return i % 3 == 0 ? Vec3d{nan, 0, 0} : test::random_point(7, i / 2);
            }),
      cloud("nothing",
            [&](std::size_t) {
              return Vec3d{0, nan, 0};
            }),
      cloud("line", [](std::size_t i) {
        return Vec3d{0, 0, double(i * 7919 % kCount)};
      })};
}

TEST(KdTree, LargeCloudsHaveTightBoxesForAnyNumberOfThreads) {
  for (const SpacingCloud& cloud : large_clouds()) {
    const KdTree one = tree_of(cloud, 1), three = tree_of(cloud, 3);
    ASSERT_EQ(one.node_count(), three.node_count()) << cloud.name;
    ASSERT_EQ(one.leaves().size, three.leaves().size) << cloud.name;
    std::vector<std::uint64_t> finite, rows, others;
    for (std::size_t i = 0; i < cloud.points.size(); ++i)
      if (is_finite(cloud.points[i])) finite.push_back(i);
    ASSERT_EQ(three.size(), finite.size()) << cloud.name;
    if (finite.empty()) {
      EXPECT_EQ(three.node_count(), 0U);
      continue;
    }
    expect_tight(three, 0, rows, cloud.name.c_str());
    expect_tight(one, 0, others, cloud.name.c_str());
    EXPECT_EQ(rows, others) << cloud.name;
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(rows, finite) << cloud.name;
  }
}

/// What a node's children get of its points, and that a plane is between them.
TEST(KdTree, DealtNodesAreSplitByPlanesIntoFairParts) {
  std::size_t split = 0;
  for (const SpacingCloud& cloud : test::knn_clouds(3000, 20)) {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 2);
    const kd_tree::Dealt dealt = kd_tree::deal(cloud.view(), 100, ctx);
    std::vector<std::uint64_t> rows, finite;
    for (std::size_t i = 0; i < cloud.points.size(); ++i)
      if (is_finite(cloud.points[i])) finite.push_back(i);
    for (const kd_tree::Item& item : dealt.items) rows.push_back(item.row);
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(rows, finite) << cloud.name;
    EXPECT_EQ(dealt.nodes[0].end, finite.size()) << cloud.name;
    const auto box_of = [&](const kd_tree::DealtNode& node) {
      Box3d box;
      for (std::uint64_t i = node.begin; i < node.end; ++i)
        box.add(Vec3d{dealt.items[i].axis[0], dealt.items[i].axis[1], dealt.items[i].axis[2]});
      return box;
    };
    for (const kd_tree::DealtNode& node : dealt.nodes) {
      if (node.left == 0) continue;
      ++split;
      const kd_tree::DealtNode &left = dealt.nodes[node.left], &right = dealt.nodes[node.left + 1];
      EXPECT_EQ(left.begin, node.begin);
      EXPECT_EQ(left.end, right.begin);
      EXPECT_EQ(right.end, node.end);
      EXPECT_GE(16 * std::min(left.end - left.begin, right.end - right.begin) + 16, node.end - node.begin);
      const Box3d low = box_of(left), high = box_of(right);
      EXPECT_TRUE(low.max.x < high.min.x || low.max.y < high.min.y || low.max.z < high.min.z) << cloud.name;
    }
  }
  EXPECT_GT(split, 200U);
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
