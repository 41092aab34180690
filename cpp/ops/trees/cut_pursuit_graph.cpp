#include "ops/trees/cut_pursuit_graph.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "ops/trees/work_poll.h"
#include "spatial/all_knn.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::uint32_t kMostTied = 6;
constexpr std::uint64_t kMostArcs = 0xfffffff0;

}  // namespace

bool NeighborTable::lists(std::size_t i, std::uint32_t neighbor) const {
  const Span<const std::uint32_t> rows = of(i);
  return std::binary_search(rows.begin(), rows.end(), neighbor);
}

NeighborTable neighbor_table(Span<const Vec3d> points, std::uint32_t k, OpContext& ctx) {
  NeighborTable table;
  table.width = k + kMostTied;
  table.count.resize(points.size);
  table.row.resize(points.size * table.width);
  const KdTree tree(points, ctx);
  const KdTreeView view = tree.view();
  const std::vector<std::size_t> blocks = tree.leaf_blocks(all_knn_block(k));
  all_knn(tree, {k, kMostTied, KnnColumns::kAll}, {blocks.data(), blocks.size()}, ctx,
          [&](std::uint32_t number, const LeafKnn& found) {
            const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
            for (std::uint32_t i = 0; i < leaf.count; ++i) {
              const Span<const std::uint64_t> rows = found.rows(i);
              std::uint32_t* const out = table.row.data() + leaf.row[i] * table.width;
              for (std::size_t j = 0; j < rows.size; ++j) out[j] = static_cast<std::uint32_t>(rows[j]);
              std::sort(out, out + rows.size);
              table.count[leaf.row[i]] = static_cast<std::uint32_t>(rows.size);
            }
          });
  return table;
}

CutGraph cut_graph(std::size_t nodes, Span<const CutEdge> edges, OpContext& ctx) {
  if (2 * edges.size > kMostArcs) {
    throw Error(
        ErrorCode::kInvalidArgument,
        std::to_string(2 * edges.size) +
            " arcs in the graph of neighbours (limit 4294967280); use larger voxels or fewer neighbours");
  }
  CutGraph graph;
  graph.first.resize(nodes + 1);
  WorkPoll poll(ctx);
  for (const CutEdge& edge : edges) {
    poll.add(1);
    ++graph.first[edge.a + 1];
    ++graph.first[edge.b + 1];
  }
  for (std::size_t i = 0; i < nodes; ++i) graph.first[i + 1] += graph.first[i];
  graph.head.resize(2 * edges.size);
  graph.mate.resize(2 * edges.size);
  graph.weight.resize(2 * edges.size);
  BulkVector<std::uint32_t> used(nodes);
  for (std::size_t i = 0; i < edges.size; ++i) {
    poll.add(1);
    const auto [a, b, weight] = edges[i];
    const auto from_a = static_cast<std::uint32_t>(graph.first[a] + used[a]++);
    const auto from_b = static_cast<std::uint32_t>(graph.first[b] + used[b]++);
    graph.head[from_a] = b;
    graph.head[from_b] = a;
    graph.mate[from_a] = from_b;
    graph.mate[from_b] = from_a;
    graph.weight[from_a] = graph.weight[from_b] = weight;
  }
  return graph;
}

BulkVector<CutEdge> neighbor_edges(const NeighborTable& table, double weight, OpContext& ctx) {
  BulkVector<CutEdge> edges;
  if (!(weight > 0)) return edges;
  WorkPoll poll(ctx);
  for (std::size_t i = 0; i < table.count.size(); ++i) {
    poll.add(table.count[i]);
    const auto u = static_cast<std::uint32_t>(i);
    for (const std::uint32_t v : table.of(i)) {
      const bool mutual = table.lists(v, u);
      if (!mutual || u < v) edges.push_back({u, v, mutual ? 2 * weight : weight});
    }
  }
  return edges;
}

}  // namespace pc
