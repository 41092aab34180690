#include "spatial/kd_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "spatial/leaf_neighbors.h"
#include "support/spacing_clouds.h"

namespace pc {
namespace {

using kd_tree::Leaf;
using kd_tree::Node;
using test::SpacingCloud;

/// The shared clouds, and those that a tree may stumble over.
std::vector<SpacingCloud> tree_clouds(std::size_t n, std::uint64_t seed) {
  std::vector<SpacingCloud> clouds = test::spacing_clouds(n, seed);
  const auto make = [&](const char* name, std::size_t count, auto&& point) {
    SpacingCloud cloud{name, {}};
    for (std::size_t i = 0; i < count; ++i) cloud.points.push_back(point(i, test::random_point(seed, i)));
    clouds.push_back(std::move(cloud));
  };
  make("as many as a leaf holds", kd_tree::kLeafPoints, [](std::size_t, const Vec3d& u) { return u; });
  make("one more", kd_tree::kLeafPoints + 1, [](std::size_t, const Vec3d& u) { return u; });
  make("half in one place", n, [](std::size_t i, const Vec3d& u) { return i % 2 == 0 ? Vec3d{3, 3, 3} : u; });
  make("two places", n, [](std::size_t i, const Vec3d&) {
    return i % 9 == 0 ? Vec3d{0, 0, 1} : Vec3d{0, 0, 0};
  });
  make("sorted by x", n, [](std::size_t i, const Vec3d& u) {
    return Vec3d{static_cast<double>(i), u.y, u.z};
  });
  make("one far away", n, [](std::size_t i, const Vec3d& u) { return i == 5 ? Vec3d{1e7, -1e7, 1e7} : u; });
  make("flat and tilted", n, [](std::size_t, const Vec3d& u) { return Vec3d{u.x, u.y, u.x + u.y}; });
  return clouds;
}

KdTree tree_of(const SpacingCloud& cloud, int threads) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return KdTree(cloud.view(), ctx);
}

/// A node's box is tight round its points, and its children share them.
void expect_tight(const KdTree& tree, std::uint32_t number, std::vector<std::uint64_t>& rows,
                  const char* name) {
  const Node& node = tree.view().nodes[number];
  Box3d box;
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
  EXPECT_EQ(node.min, box.min) << name;
  EXPECT_EQ(node.max, box.max) << name;
}

TEST(KdTree, HoldsEveryFiniteRowOnceInTightBoxes) {
  for (const SpacingCloud& cloud : tree_clouds(2000, 17)) {
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

TEST(KdTree, LeavesKeepThePositionsOfTheirRows) {
  for (const SpacingCloud& cloud : tree_clouds(500, 19)) {
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

/// The least k squared distances to others, descending, infinite where there are fewer.
std::vector<double> brute_force(const SpacingCloud& cloud, std::uint64_t row, std::size_t k) {
  std::vector<double> squared;
  for (std::size_t j = 0; j < cloud.points.size(); ++j)
    if (j != row && is_finite(cloud.points[j]))
      squared.push_back(squared_distance(cloud.points[row], cloud.points[j]));
  std::sort(squared.begin(), squared.end());
  squared.resize(k, HUGE_VAL);
  std::reverse(squared.begin(), squared.end());
  return squared;
}

TEST(LeafNeighbors, EqualBruteForceToTheLastBit) {
  for (const SpacingCloud& cloud : tree_clouds(400, 23)) {
    const KdTree tree = tree_of(cloud, 2);
    for (const std::size_t k : {1U, 2U, 16U, 64U, 65U, 500U}) {
      LeafNeighbors neighbors(k);
      for (const std::uint32_t number : tree.leaves()) {
        neighbors.find(number, tree.view());
        const Leaf leaf = tree.view().leaf(tree.view().nodes[number]);
        for (std::uint32_t i = 0; i < leaf.count; ++i) {
          const auto found = neighbors.descending(i);
          ASSERT_EQ(std::vector<double>(found.begin(), found.end()), brute_force(cloud, leaf.row[i], k))
              << cloud.name << " k " << k << " row " << leaf.row[i];
        }
      }
    }
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
