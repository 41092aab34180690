#include "ops/trees/path_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/symmetric_eigen.h"
#include "spatial/all_knn.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 8192;
constexpr std::size_t kSpacingNeighbor = 4;
constexpr std::uint32_t kNone = PathGraph::kNoNeighbor;

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

/// The neighbours that have a node in their list and are not in its own.
void add_others(PathGraph& graph, OpContext& ctx) {
  const std::size_t m = graph.size();
  auto& first = graph.others_first;
  first.resize(m + 1);
  const auto each_missing = [&](const auto& visit) {
    for (std::size_t i = 0; i < m; ++i) {
      if (i % kGrain == 0) ctx.checkpoint();
      const auto node = static_cast<std::uint32_t>(i);
      for (const std::uint32_t other : graph.near_of(i)) {
        const auto list = graph.near_of(other);
        if (std::find(list.begin(), list.end(), node) == list.end()) visit(other, node);
      }
    }
  };
  each_missing([&](std::uint32_t from, std::uint32_t) { ++first[from]; });
  std::uint64_t next = 0;
  for (std::size_t i = 0; i <= m; ++i) next += std::exchange(first[i], static_cast<std::uint32_t>(next));
  if (next > kNone)
    throw Error(ErrorCode::kUnsupported, "the graph of " + std::to_string(m) + " nodes has " +
                                             std::to_string(next) +
                                             " neighbours, more than 32 bits count; use larger voxels");
  graph.others.resize(next);
  each_missing([&](std::uint32_t from, std::uint32_t to) { graph.others[first[from]++] = to; });
  for (std::size_t i = m; i > 0; --i) first[i] = first[i - 1];
  first[0] = 0;
}

/// Fills the lists of the nodes that are nearest, and the scatter.
void find_near(Span<const Vec3d> nodes, double most_gap_m, PathGraph& graph, OpContext& ctx) {
  const KdTree tree(nodes, ctx);
  const KdTreeView view = tree.view();
  const double most = most_gap_m * most_gap_m;
  const auto width = static_cast<std::uint32_t>(graph.width);
  ctx.begin_phase("Joining neighbours", tree.leaf_blocks(all_knn_block(width)).size() - 1);
  all_knn(tree, width, ctx, [&](std::uint32_t number, const LeafKnn& found) {
    const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
    for (std::uint32_t i = 0; i < leaf.count; ++i) {
      const auto rows = found.rows(i);
      const auto squared = found.squared(i);
      std::uint32_t* const list = graph.near.data() + leaf.row[i] * width;
      std::size_t kept = 0;
      for (; kept < rows.size && squared[kept] <= most; ++kept)
        list[kept] = static_cast<std::uint32_t>(rows[kept]);
      std::fill(list + kept, list + width, kNone);
      const std::size_t far = std::min(kept, kSpacingNeighbor);
      graph.spacing[leaf.row[i]] = far == 0 ? 0 : static_cast<float>(std::sqrt(squared[far - 1]));
      graph.scatter[leaf.row[i]] = scatter_of(leaf.point(i), rows, nodes);
    }
  });
}

}  // namespace

PathGraph path_graph(Span<const Vec3d> nodes, std::uint32_t neighbors, double most_gap_m, OpContext& ctx) {
  PathGraph graph;
  if (nodes.size == 0) return graph;
  graph.spacing.resize(nodes.size);
  graph.scatter.resize(nodes.size);
  graph.width = neighbors;
  graph.near.resize(checked_bytes(nodes.size, neighbors));
  find_near(nodes, most_gap_m, graph, ctx);
  add_others(graph, ctx);
  return graph;
}

}  // namespace pc
