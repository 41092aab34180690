#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// The k nearest neighbours of each point, and up to 6 more that are as far away as the k-th.
struct NeighborTable {
  std::uint32_t width = 0;         ///< places per point
  BulkVector<std::uint32_t> count;  ///< (n) neighbours of each point
  BulkVector<std::uint32_t> row;    ///< (n width) neighbours, ascending

  Span<const std::uint32_t> of(std::size_t i) const { return {row.data() + i * width, count[i]}; }
  bool lists(std::size_t i, std::uint32_t neighbor) const;
};

/// Order: a function of the points for any thread count. Cost: of all_knn, 4 (k + 6) bytes per point.
NeighborTable neighbor_table(Span<const Vec3d> points, std::uint32_t k, OpContext& ctx);

/// An undirected weighted graph as arcs in both directions, grouped by the node that they leave.
struct CutGraph {
  BulkVector<std::uint64_t> first;  ///< (n + 1) first arc of each node
  BulkVector<std::uint32_t> head;   ///< (arcs) node that the arc leads to
  BulkVector<std::uint32_t> mate;   ///< (arcs) the arc in the opposite direction
  BulkVector<double> weight;        ///< (arcs) > 0, equal to the mate's

  std::size_t nodes() const { return first.empty() ? 0 : first.size() - 1; }
};

/// The edge {u, v} weighs the sum of weight(u, v), if u lists v, and weight(v, u), if v lists u, as in the list of
/// neighbours that the published programs give to their solver; edges without a positive weight are left out.
///
/// Errors   kInvalidArgument for 2^32 arcs or more.
template <class Weight>
CutGraph cut_graph(const NeighborTable& table, const Weight& weight, OpContext& ctx);

namespace cut_graph_detail {

/// Allocates a graph whose node i has degree[i] arcs; throws kInvalidArgument beyond the limit.
CutGraph empty_graph(const BulkVector<std::uint32_t>& degree);

constexpr std::size_t kPoll = 4096;

/// Calls visit(u, v, weight) once per edge, u < v or only u lists v, in the same order each time.
template <class Weight, class Visit>
void for_each_edge(const NeighborTable& table, const Weight& weight, OpContext& ctx, const Visit& visit) {
  for (std::size_t i = 0; i < table.count.size(); ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    const auto u = static_cast<std::uint32_t>(i);
    for (const std::uint32_t v : table.of(i)) {
      const bool mutual = table.lists(v, u);
      if (mutual && v < u) continue;
      const double sum = weight(u, v) + (mutual ? weight(v, u) : 0.0);
      if (sum > 0) visit(u, v, sum);
    }
  }
}

}  // namespace cut_graph_detail

template <class Weight>
CutGraph cut_graph(const NeighborTable& table, const Weight& weight, OpContext& ctx) {
  namespace detail = cut_graph_detail;
  BulkVector<std::uint32_t> degree(table.count.size());
  detail::for_each_edge(table, weight, ctx, [&](std::uint32_t u, std::uint32_t v, double) {
    ++degree[u];
    ++degree[v];
  });
  CutGraph graph = detail::empty_graph(degree);
  BulkVector<std::uint32_t> used(degree.size());
  detail::for_each_edge(table, weight, ctx, [&](std::uint32_t u, std::uint32_t v, double sum) {
    const auto from_u = static_cast<std::uint32_t>(graph.first[u] + used[u]++);
    const auto from_v = static_cast<std::uint32_t>(graph.first[v] + used[v]++);
    graph.head[from_u] = v;
    graph.head[from_v] = u;
    graph.mate[from_u] = from_v;
    graph.mate[from_v] = from_u;
    graph.weight[from_u] = graph.weight[from_v] = sum;
  });
  return graph;
}

}  // namespace pc
