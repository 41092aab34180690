#include "spatial/all_knn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/error.h"
#include "support/cancel.h"
#include "support/knn_clouds.h"

namespace pc {
namespace {

using test::Neighbor;
using test::SpacingCloud;

KdTree tree_of(const SpacingCloud& cloud) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  return KdTree(cloud.view(), ctx);
}

/// Neighbours of every row; those of rows that are not finite are empty.
using Graph = std::vector<std::vector<Neighbor>>;

void put(const KdTree& tree, std::uint32_t leaf, const LeafKnn& neighbors, Graph& graph) {
  const kd_tree::Leaf points = tree.view().leaf(tree.view().nodes[leaf]);
  for (std::uint32_t i = 0; i < points.count; ++i) {
    std::vector<Neighbor>& of = graph[points.row[i]];
    EXPECT_TRUE(of.empty());
    for (std::size_t j = 0; j < neighbors.squared(i).size; ++j)
      of.push_back({neighbors.squared(i)[j], neighbors.rows(i)[j]});
  }
}

Graph graph_of(const SpacingCloud& cloud, std::uint32_t k, int threads) {
  const KdTree tree = tree_of(cloud);
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  Graph graph(cloud.points.size());
  all_knn(tree, k, ctx, [&](std::uint32_t leaf, const LeafKnn& found) { put(tree, leaf, found, graph); });
  return graph;
}

Graph oracle_of(const SpacingCloud& cloud, std::uint32_t k) {
  Graph graph;
  for (std::size_t row = 0; row < cloud.points.size(); ++row) {
    const bool finite = is_finite(cloud.points[row]);
    graph.push_back(finite ? test::knn_oracle(cloud, cloud.points[row], row, k, HUGE_VAL)
                           : std::vector<Neighbor>{});
  }
  return graph;
}

TEST(AllKnn, EqualsBruteForceTiesByRowForAnyThreadCount) {
  for (const SpacingCloud& cloud : test::knn_clouds(240, 23)) {
    for (const std::uint32_t k : {1U, 8U, 16U, 64U, 300U}) {
      const Graph expected = oracle_of(cloud, k);
      for (const int threads : {1, 2, 4})
        ASSERT_EQ(graph_of(cloud, k, threads), expected)
            << cloud.name << " k " << k << " threads " << threads;
    }
  }
}

/// Many blocks, so that leaves search beyond the points their block shares.
TEST(AllKnn, EqualsTheSearchOfOnePointInLargerClouds) {
  for (const SpacingCloud& cloud : test::knn_clouds(5000, 37)) {
    const KdTree tree = tree_of(cloud);
    for (const std::uint32_t k : {5U, 17U, 100U}) {
      const Graph graph = graph_of(cloud, k, 2);
      std::vector<double> squared(k);
      std::vector<std::uint64_t> row(k), slot(k);
      for (std::size_t i = 0; i < cloud.points.size(); i += 7) {
        if (!is_finite(cloud.points[i])) continue;
        const std::uint32_t count =
            tree.view().knn(cloud.points[i], k, i, squared.data(), row.data(), slot.data());
        ASSERT_EQ(graph[i].size(), count) << cloud.name << " k " << k << " row " << i;
        for (std::uint32_t j = 0; j < count; ++j)
          ASSERT_EQ(graph[i][j], (Neighbor{squared[j], row[j]})) << cloud.name << " k " << k << " row " << i;
      }
    }
  }
}

Graph graph_with(const KnnKernels& kernels, const SpacingCloud& cloud, const KdTree& tree, std::uint32_t k,
                 bool is_backward) {
  LeafKnn knn({k, 0, KnnColumns::kAll}, kernels);
  Graph graph(cloud.points.size());
  const std::size_t leaves = tree.leaves().size;
  for (std::size_t i = 0; i < leaves; ++i) {
    if (is_backward && i == 0) knn.enter(tree.leaves(), tree.view());
    if (!is_backward && i % 3 == 0) knn.enter(tree.leaves().subspan(i, 1), tree.view());
    const std::uint32_t leaf = tree.leaves()[is_backward ? leaves - 1 - i : i];
    knn.find(leaf, tree.view());  // forward: a block of one leaf, then leaves outside of it
    put(tree, leaf, knn, graph);
  }
  return graph;
}

TEST(AllKnn, AllKernelsFindTheSameInAnyOrderOfTheLeaves) {
  std::size_t compared = 0;
  for (const SpacingCloud& cloud : test::knn_clouds(700, 41)) {
    const KdTree tree = tree_of(cloud);
    for (const std::uint32_t k : {1U, 16U, 64U}) {
      const Graph plain = graph_with(portable_knn_kernels(), cloud, tree, k, false);
      const KnnKernels* const fast = avx2_knn_kernels();
      if (fast == nullptr) continue;
      ASSERT_EQ(graph_with(*fast, cloud, tree, k, true), plain) << cloud.name << " k " << k;
      ++compared;
    }
  }
  if (compared == 0) GTEST_SKIP() << "this processor has no AVX2";
}

constexpr std::uint32_t kMostTied = 4;

/// Compares what is stored of each point with the oracle's k + kMostTied nearest. Counts those with ties.
void expect_tied(const KdTree& tree, const Graph& oracle, const LeafKnnParams& params,
                 std::atomic<std::size_t>& tied) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const std::vector<std::size_t> blocks = tree.leaf_blocks(100);
  const Span<const std::size_t> all{blocks.data(), blocks.size()};
  all_knn(tree, params, all, ctx, [&](std::uint32_t number, const LeafKnn& found) {
    const kd_tree::Leaf leaf = tree.view().leaf(tree.view().nodes[number]);
    for (std::uint32_t i = 0; i < leaf.count; ++i) {
      std::vector<Neighbor> wanted = oracle[leaf.row[i]], got;
      while (wanted.size() > params.k && wanted.back().squared > wanted[params.k - 1].squared)
        wanted.pop_back();
      tied += wanted.size() > params.k ? 1 : 0;
      const bool has_rows = params.columns == KnnColumns::kAll;
      for (std::size_t j = 0; j < found.squared(i).size; ++j)
        got.push_back({found.squared(i)[j], has_rows ? found.rows(i)[j] : 0});
      for (Neighbor& neighbor : wanted) neighbor.row = has_rows ? neighbor.row : 0;
      ASSERT_EQ(got, wanted);
    }
  });
}

TEST(AllKnn, StoresTheOthersTiedWithTheLastNeighbour) {
  std::atomic<std::size_t> tied{0};
  for (const SpacingCloud& cloud : test::knn_clouds(400, 53)) {
    SCOPED_TRACE(cloud.name);
    const KdTree tree = tree_of(cloud);
    for (const std::uint32_t k : {2U, 16U, 40U}) {
      const Graph oracle = oracle_of(cloud, k + kMostTied);
      for (const KnnColumns columns : {KnnColumns::kSquared, KnnColumns::kSquaredAndSlots, KnnColumns::kAll})
        expect_tied(tree, oracle, {k, kMostTied, columns}, tied);
    }
  }
  EXPECT_GT(tied, 1000);
}

TEST(AllKnn, SlotsWithoutRowsAreTheSameSet) {
  for (const SpacingCloud& cloud : test::knn_clouds(900, 59)) {
    const KdTree tree = tree_of(cloud);
    const auto for_all = [&](KnnColumns columns, const auto& visit) {
      JobControl control;
      OpContext ctx(control, Device::kCpu, 1);
      const std::vector<std::size_t> blocks = tree.leaf_blocks(300);
      all_knn(tree, {8, 64, columns}, {blocks.data(), blocks.size()}, ctx, visit);
    };
    std::vector<std::vector<std::uint64_t>> with_rows(tree.size()), without(tree.size());
    const auto list = [&](auto& lists) {
      return [&](std::uint32_t number, const LeafKnn& found) {
        const kd_tree::Node& node = tree.view().nodes[number];
        for (std::uint64_t slot = node.begin; slot < node.end; ++slot) {
          const auto i = static_cast<std::uint32_t>(slot - node.begin);
          if (found.slots(i).size == 8 + 64) continue;  // there may be more: any of the tied ones
          lists[slot].assign(found.slots(i).begin(), found.slots(i).end());
          std::sort(lists[slot].begin(), lists[slot].end());
        }
      };
    };
    for_all(KnnColumns::kAll, list(with_rows));
    for_all(KnnColumns::kSquaredAndSlots, list(without));
    ASSERT_EQ(with_rows, without) << cloud.name;
  }
}

TEST(AllKnn, SlotsAreWhereTheTreeKeepsTheRows) {
  const SpacingCloud cloud = test::knn_clouds(3000, 43)[3];
  const KdTree tree = tree_of(cloud);
  std::vector<std::uint64_t> row_of;
  for (const std::uint32_t number : tree.leaves()) {
    const kd_tree::Leaf leaf = tree.view().leaf(tree.view().nodes[number]);
    row_of.insert(row_of.end(), leaf.row, leaf.row + leaf.count);
  }
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  std::size_t compared = 0;
  all_knn(tree, 16, ctx, [&](std::uint32_t leaf, const LeafKnn& found) {
    const std::uint64_t points = tree.view().nodes[leaf].end - tree.view().nodes[leaf].begin;
    for (std::uint32_t i = 0; i < points; ++i)
      for (std::size_t j = 0; j < 16; ++j, ++compared) ASSERT_EQ(row_of[found.slots(i)[j]], found.rows(i)[j]);
  });
  EXPECT_EQ(compared, 16 * cloud.points.size());
}

TEST(AllKnn, CancelEndsItInTimeForTheWorstShapes) {
  constexpr std::size_t kMany = 300'000;
  std::vector<SpacingCloud> clouds{{"one place", {}}, {"a line", {}}, {"two clusters", {}}, {"cube", {}}};
  for (std::size_t i = 0; i < kMany; ++i) {
    const Vec3d u = test::random_point(3, i);
    clouds[0].points.push_back({1, 2, 3});
    clouds[1].points.push_back({1e-3 * static_cast<double>(i), 0, 0});
    clouds[2].points.push_back(u + (i % 2 == 0 ? Vec3d{0, 0, 0} : Vec3d{1e6, 0, 0}));
    clouds[3].points.push_back(u);
  }
  for (const SpacingCloud& cloud : clouds) {
    const KdTree tree = tree_of(cloud);
    for (const std::uint32_t k : {16U, 100U, 1000U}) {
      SCOPED_TRACE(cloud.name + " k " + std::to_string(k));
      const auto run = [&](OpContext& ctx) {
        ctx.begin_phase("Neighbors", 0);
        all_knn(tree, k, ctx, [&](std::uint32_t, const LeafKnn&) { ctx.advance(1); });
      };
      test::expect_cancel_in_time(run, {"Neighbors", 1, {}, 2});
    }
  }
}

}  // namespace
}  // namespace pc
