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

/// The lists of neighbours of fixed width that end at the first kNone.
struct Lists {
  BulkVector<std::uint32_t> near;
  std::size_t width;

  std::size_t size() const { return near.size() / width; }
  Span<const std::uint32_t> of(std::size_t node) const {
    const std::uint32_t* const begin = near.data() + node * width;
    return {begin, static_cast<std::size_t>(std::find(begin, begin + width, kNone) - begin)};
  }
  bool has(std::size_t node, std::uint32_t other) const {
    const auto list = of(node);
    return std::find(list.begin(), list.end(), other) != list.end();
  }
};

/// The lists, and those of the other direction where they are missing.
void join_both_ways(const Lists& lists, PathGraph& graph, OpContext& ctx) {
  const std::size_t m = lists.size();
  graph.first.resize(m + 1);
  const auto each_pair = [&](const auto& visit) {
    for (std::size_t i = 0; i < m; ++i) {
      if (i % kGrain == 0) ctx.checkpoint();
      const auto node = static_cast<std::uint32_t>(i);
      for (const std::uint32_t other : lists.of(i)) {
        visit(node, other);
        if (!lists.has(other, node)) visit(other, node);
      }
    }
  };
  each_pair([&](std::uint32_t from, std::uint32_t) { ++graph.first[from]; });
  std::uint64_t next = 0;
  for (std::size_t i = 0; i <= m; ++i) next += std::exchange(graph.first[i], next);
  graph.neighbor.resize(next);
  each_pair([&](std::uint32_t from, std::uint32_t to) { graph.neighbor[graph.first[from]++] = to; });
  for (std::size_t i = m; i > 0; --i) graph.first[i] = graph.first[i - 1];
  graph.first[0] = 0;
}

/// Fills the lists of the nodes that are nearest, and the scatter.
void find_near(Span<const Vec3d> nodes, double most_gap_m, Lists& lists, PathGraph& graph, OpContext& ctx) {
  const KdTree tree(nodes, ctx);
  const KdTreeView view = tree.view();
  const double most = most_gap_m * most_gap_m;
  const auto width = static_cast<std::uint32_t>(lists.width);
  ctx.begin_phase("Joining neighbours", tree.leaf_blocks(all_knn_block(width)).size() - 1);
  all_knn(tree, width, ctx, [&](std::uint32_t number, const LeafKnn& found) {
    const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
    for (std::uint32_t i = 0; i < leaf.count; ++i) {
      const auto rows = found.rows(i);
      const auto squared = found.squared(i);
      std::uint32_t* const list = lists.near.data() + leaf.row[i] * width;
      std::size_t kept = 0;
      for (; kept < rows.size && squared[kept] <= most; ++kept)
        list[kept] = static_cast<std::uint32_t>(rows[kept]);
      std::fill(list + kept, list + width, kNone);
      graph.scatter[leaf.row[i]] = scatter_of(leaf.point(i), rows, nodes);
    }
  });
}

}  // namespace

PathGraph path_graph(Span<const Vec3d> nodes, std::uint32_t neighbors, double most_gap_m, OpContext& ctx) {
  PathGraph graph;
  if (nodes.size == 0) return graph;
  graph.scatter.resize(nodes.size);
  Lists lists{BulkVector<std::uint32_t>(checked_bytes(nodes.size, neighbors)), neighbors};
  find_near(nodes, most_gap_m, lists, graph, ctx);
  join_both_ways(lists, graph, ctx);
  return graph;
}

}  // namespace pc
