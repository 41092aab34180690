#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// The k nearest neighbours of each point, and up to 6 more that are as far away as the k-th.
struct NeighborTable {
  std::uint32_t width = 0;          ///< places per point
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

struct CutEdge {
  std::uint32_t a, b;
  double weight;  ///< > 0
};

/// Graph of `nodes` nodes with the given edges, each pair of nodes at most once.
/// Errors   kInvalidArgument for 2^32 arcs or more.
CutGraph cut_graph(std::size_t nodes, Span<const CutEdge> edges, OpContext& ctx);

/// The pairs of neighbours in ascending order of the lower row that lists the other: `weight` if one lists the other, twice
/// that if both do, as in the list of arcs that the published programs give to their solver. None if weight is 0.
BulkVector<CutEdge> neighbor_edges(const NeighborTable& table, double weight, OpContext& ctx);

}  // namespace pc
