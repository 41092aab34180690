#include "ops/trees/path_graph.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/symmetric_eigen.h"
#include "ops/trees/path_constants.h"
#include "spatial/all_knn.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 8192;
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

static_assert(kMostPathNeighbors <= 32);

/// Bit k of a node: its k-th neighbour does not have the node in its own list.
BulkVector<std::uint32_t> one_sided(const PathGraph& graph, OpContext& ctx) {
  BulkVector<std::uint32_t> bits(graph.size());
  parallel_for(ctx, graph.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto near = graph.near_of(i);
      const auto node = static_cast<std::uint32_t>(i);
      for (std::size_t k = 0; k < near.size; ++k) {
        const auto list = graph.near_of(near[k]);
        if (std::find(list.begin(), list.end(), node) == list.end()) bits[i] |= std::uint32_t{1} << k;
      }
    }
  });
  return bits;
}

/// The neighbours that have a node in their list and are not in its own.
void add_others(PathGraph& graph, OpContext& ctx) {
  const std::size_t m = graph.size();
  auto& first = graph.others_first;
  first.resize(m + 1);
  const BulkVector<std::uint32_t> missing = one_sided(graph, ctx);
  const auto each_missing = [&](const auto& visit) {
    for (std::size_t i = 0; i < m; ++i) {
      if (i % kGrain == 0) ctx.checkpoint();
      const std::uint32_t* const near = graph.near.data() + i * graph.width;
      for (std::uint32_t bits = missing[i]; bits != 0; bits &= bits - 1)
        visit(near[std::countr_zero(bits)], static_cast<std::uint32_t>(i));
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

}  // namespace

PathGraphMaker::PathGraphMaker(Span<const Vec3d> places, std::uint32_t neighbors, double gap_m)
    : nodes(places), most_gap_m(gap_m) {
  require(neighbors <= kMostPathNeighbors, "a node has at most 32 neighbours");
  graph.scatter.resize(nodes.size);
  graph.width = neighbors;
  graph.near.resize(checked_bytes(nodes.size, neighbors));
}

void PathGraphMaker::set_near(std::size_t node, Span<const std::uint64_t> rows, Span<const double> squared) {
  const std::size_t found = std::min(rows.size, graph.width);
  const double most = most_gap_m * most_gap_m;
  std::uint32_t* const list = graph.near.data() + node * graph.width;
  std::size_t kept = 0;
  for (; kept < found && squared[kept] <= most; ++kept) list[kept] = static_cast<std::uint32_t>(rows[kept]);
  std::fill(list + kept, list + graph.width, kNone);
  graph.scatter[node] = scatter_of(nodes[node], rows.subspan(0, found), nodes);
}

PathGraph PathGraphMaker::finish(OpContext& ctx) && {
  if (graph.size() > 0) add_others(graph, ctx);
  return std::move(graph);
}

PathGraph path_graph(Span<const Vec3d> nodes, std::uint32_t neighbors, double most_gap_m, OpContext& ctx) {
  if (nodes.size == 0) return {};
  PathGraphMaker maker(nodes, neighbors, most_gap_m);
  const KdTree tree(nodes, ctx);
  const KdTreeView view = tree.view();
  ctx.begin_phase("Joining neighbours", tree.leaf_blocks(all_knn_block(neighbors)).size() - 1);
  all_knn(tree, neighbors, ctx, [&](std::uint32_t number, const LeafKnn& found) {
    const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
    for (std::uint32_t i = 0; i < leaf.count; ++i)
      maker.set_near(leaf.row[i], found.rows(i), found.squared(i));
  });
  return std::move(maker).finish(ctx);
}

}  // namespace pc
