#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "spatial/kd_tree.h"
#include "support/knn_clouds.h"

namespace pc {
namespace {

using test::Neighbor;
using test::SpacingCloud;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

KdTree tree_of(const SpacingCloud& cloud) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  return KdTree(cloud.view(), ctx);
}

/// Points of the cloud with their rows, and places elsewhere with kNoRow.
std::vector<std::pair<Vec3d, std::uint64_t>> queries_of(const SpacingCloud& cloud) {
  std::vector<std::pair<Vec3d, std::uint64_t>> queries{
      {{0.5, 0.25, 0.75}, kd_tree::kNoRow}, {{-3e7, 1, 1e4}, kd_tree::kNoRow}, {{1, 2, 3}, kd_tree::kNoRow}};
  for (std::size_t row = 0; row < cloud.points.size(); row += 7) {
    if (!is_finite(cloud.points[row])) continue;
    queries.emplace_back(cloud.points[row], row);
    queries.emplace_back(cloud.points[row] + Vec3d{1e-3, 0, 0.1}, kd_tree::kNoRow);
  }
  return queries;
}

/// The slot of a neighbour is where the tree keeps its row.
void expect_slots(const KdTreeView& tree, const std::vector<std::uint64_t>& row_of,
                  const std::vector<std::uint64_t>& rows, const std::vector<std::uint64_t>& slots,
                  std::uint32_t count, const std::string& name) {
  ASSERT_EQ(row_of.size(), tree.size);
  for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(row_of[slots[i]], rows[i]) << name;
}

std::vector<std::uint64_t> rows_by_slot(const KdTree& tree) {
  std::vector<std::uint64_t> rows;
  for (const std::uint32_t number : tree.leaves()) {
    const kd_tree::Leaf leaf = tree.view().leaf(tree.view().nodes[number]);
    rows.insert(rows.end(), leaf.row, leaf.row + leaf.count);
  }
  return rows;
}

TEST(KdTreeView, KnnAndHybridSearchEqualBruteForceTiesByRow) {
  for (const SpacingCloud& cloud : test::knn_clouds(350, 29)) {
    const KdTree tree = tree_of(cloud);
    const KdTreeView view = tree.view();
    const std::vector<std::uint64_t> row_of = rows_by_slot(tree);
    for (const auto& [p, skip] : queries_of(cloud)) {
      for (const std::uint32_t k : {1U, 8U, 16U, 64U, 500U}) {
        std::vector<double> squared(k), distances(k);
        std::vector<std::uint64_t> row(k), slot(k);
        const auto found = [&](std::uint32_t count) {
          std::vector<Neighbor> neighbors;
          for (std::uint32_t i = 0; i < count; ++i) neighbors.push_back({squared[i], row[i]});
          return neighbors;
        };
        std::uint32_t count = view.knn(p, k, skip, squared.data(), row.data(), slot.data());
        const std::vector<Neighbor> expected = test::knn_oracle(cloud, p, skip, k, HUGE_VAL);
        ASSERT_EQ(found(count), expected) << cloud.name << " " << k << " " << skip;
        expect_slots(view, row_of, row, slot, count, cloud.name);
        view.nearest_distances(p, k, skip, distances.data(), 1);
        for (std::uint32_t i = 0; i < k; ++i)
          ASSERT_EQ(distances[i], i < expected.size() ? expected[i].squared : HUGE_VAL) << cloud.name;
        // Radii with neighbours on the surface, and none.
        std::vector<double> radii{0, 1e-9, 4};
        for (const std::size_t at : {std::size_t{0}, expected.size() / 2})
          if (at < expected.size()) radii.push_back(expected[at].squared);
        for (const double squared_radius : radii) {
          count = view.knn_within(p, k, squared_radius, skip, squared.data(), row.data(), slot.data());
          ASSERT_EQ(found(count), test::knn_oracle(cloud, p, skip, k, squared_radius))
              << cloud.name << " " << k << " " << skip << " within " << squared_radius;
        }
      }
    }
  }
}

TEST(KdTreeView, RadiusSearchesEqualBruteForce) {
  for (const SpacingCloud& cloud : test::knn_clouds(350, 31)) {
    const KdTree tree = tree_of(cloud);
    const KdTreeView view = tree.view();
    for (const auto& [p, skip] : queries_of(cloud)) {
      std::vector<double> radii{0, 0.01, 1, 16, 1e13, HUGE_VAL};
      const std::vector<Neighbor> near = test::knn_oracle(cloud, p, skip, 20, HUGE_VAL);
      if (!near.empty()) radii.push_back(near.back().squared);
      for (const double squared_radius : radii) {
        std::vector<Neighbor> found;
        view.for_each_within(p, squared_radius, [&](std::uint64_t row, std::uint64_t, double squared) {
          found.push_back({squared, row});
        });
        std::vector<Neighbor> expected;
        for (std::size_t j = 0; j < cloud.points.size(); ++j) {
          const double squared = squared_distance(p, cloud.points[j]);
          if (is_finite(cloud.points[j]) && squared <= squared_radius) expected.push_back({squared, j});
        }
        std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
        ASSERT_EQ(found, expected) << cloud.name << " within " << squared_radius;
        for (const std::uint64_t enough : {std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{1000}}) {
          const std::uint64_t count = view.count_within(p, squared_radius, enough);
          ASSERT_EQ(count >= enough, expected.size() >= enough) << cloud.name << " within " << squared_radius;
          ASSERT_TRUE(count >= enough || count == expected.size()) << cloud.name;
        }
      }
    }
  }
}

TEST(KdTreeView, AQueryThatIsNotFiniteHasNoNeighbours) {
  const KdTree tree = tree_of(test::knn_clouds(350, 33)[3]);
  const KdTreeView view = tree.view();
  for (const Vec3d& p : {Vec3d{kNaN, 0, 0}, Vec3d{0, HUGE_VAL, 0}, Vec3d{0, 0, -HUGE_VAL}}) {
    std::vector<double> squared(4);
    std::vector<std::uint64_t> row(4), slot(4);
    EXPECT_EQ(view.knn(p, 4, kd_tree::kNoRow, squared.data(), row.data(), slot.data()), 0U);
    EXPECT_EQ(view.count_within(p, HUGE_VAL, 4), 0U);
    view.for_each_within(p, HUGE_VAL, [](std::uint64_t, std::uint64_t, double) { FAIL(); });
  }
}

}  // namespace
}  // namespace pc
