#include "ops/trees/path_graph.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/parallel.h"
#include "core/symmetric_eigen.h"
#include "spatial/all_knn.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 8192;
constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// Least by largest variance of a node and its neighbours.
float scatter_of(const Vec3d& place, Span<const std::uint64_t> rows, Span<const Vec3d> nodes) {
  const double count = static_cast<double>(rows.size + 1);
  Vec3d mean{0, 0, 0};
  for (const std::uint64_t row : rows) mean = mean + (nodes[row] - place);
  mean = mean * (1 / count);
  double xx = mean.x * mean.x, xy = mean.x * mean.y, xz = mean.x * mean.z;
  double yy = mean.y * mean.y, yz = mean.y * mean.z, zz = mean.z * mean.z;
  for (const std::uint64_t row : rows) {
    const Vec3d d = (nodes[row] - place) - mean;
    xx += d.x * d.x, xy += d.x * d.y, xz += d.x * d.z;
    yy += d.y * d.y, yz += d.y * d.z, zz += d.z * d.z;
  }
  const SymmetricEigen3 eigen = symmetric_eigen({xx, xy, xz, yy, yz, zz});
  const double least = std::max(0.0, eigen.value[0]), most = eigen.value[2];
  return most > 0 ? static_cast<float>(least / most) : 0;
}

/// Lists without the places that stayed empty, and the lists of the other direction.
void join_both_ways(const BulkVector<std::uint32_t>& near, std::size_t width, PathGraph& graph,
                    OpContext& ctx) {
  const std::size_t m = width == 0 ? 0 : near.size() / width;
  graph.first.resize(m + 1);
  const auto each_pair = [&](const auto& visit) {
    for (std::size_t i = 0; i < m; ++i) {
      if (i % kGrain == 0) ctx.checkpoint();
      for (std::size_t j = 0; j < width && near[i * width + j] != kNone; ++j) visit(i, near[i * width + j]);
    }
  };
  each_pair([&](std::size_t a, std::uint32_t b) { ++graph.first[a], ++graph.first[b]; });
  std::uint64_t next = 0;
  for (std::size_t i = 0; i <= m; ++i) next += std::exchange(graph.first[i], next);
  graph.neighbor.resize(next);
  each_pair([&](std::size_t a, std::uint32_t b) {
    graph.neighbor[graph.first[a]++] = b;
    graph.neighbor[graph.first[b]++] = static_cast<std::uint32_t>(a);
  });
  std::uint64_t begin = 0, kept = 0;
  for (std::size_t i = 0; i < m; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    const std::uint64_t end = graph.first[i];
    std::uint32_t* const list = graph.neighbor.data();
    std::sort(list + begin, list + end);
    graph.first[i] = kept;
    for (std::uint64_t j = begin; j < end; ++j) {
      if (j == begin || list[j] != list[kept - 1]) list[kept++] = list[j];
    }
    begin = end;
  }
  graph.first[m] = kept;
  graph.neighbor.resize(kept);
}

}  // namespace

PathGraph path_graph(Span<const Vec3d> nodes, std::uint32_t neighbors, double most_gap_m, OpContext& ctx) {
  PathGraph graph;
  if (nodes.size == 0) return graph;
  const KdTree tree(nodes, ctx);
  BulkVector<std::uint32_t> near(checked_bytes(nodes.size, neighbors));
  graph.scatter.resize(nodes.size);
  const KdTreeView view = tree.view();
  const double most = most_gap_m * most_gap_m;
  const auto blocks = tree.leaf_blocks(all_knn_block(neighbors));
  ctx.begin_phase("Joining neighbours", blocks.size() - 1);
  all_knn(tree, neighbors, ctx, [&](std::uint32_t number, const LeafKnn& found) {
    const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
    for (std::uint32_t i = 0; i < leaf.count; ++i) {
      const auto rows = found.rows(i);
      const auto squared = found.squared(i);
      std::uint32_t* const list = near.data() + leaf.row[i] * neighbors;
      std::size_t kept = 0;
      for (; kept < rows.size && squared[kept] <= most; ++kept)
        list[kept] = static_cast<std::uint32_t>(rows[kept]);
      std::fill(list + kept, list + neighbors, kNone);
      graph.scatter[leaf.row[i]] = scatter_of(leaf.point(i), rows, nodes);
    }
  });
  join_both_ways(near, neighbors, graph, ctx);
  return graph;
}

}  // namespace pc
