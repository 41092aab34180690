#include "ops/trees/cut_pursuit_graph.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
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

CutGraph cut_graph_detail::empty_graph(const BulkVector<std::uint32_t>& degree) {
  CutGraph graph;
  graph.first.resize(degree.size() + 1);
  for (std::size_t i = 0; i < degree.size(); ++i) graph.first[i + 1] = graph.first[i] + degree[i];
  const std::uint64_t arcs = graph.first[degree.size()];
  if (arcs > kMostArcs) {
    throw Error(ErrorCode::kInvalidArgument,
                std::to_string(arcs) + " arcs in the graph of neighbours (limit 4294967280); use larger voxels or fewer "
                                       "neighbours");
  }
  graph.head.resize(arcs);
  graph.mate.resize(arcs);
  graph.weight.resize(arcs);
  return graph;
}

}  // namespace pc
