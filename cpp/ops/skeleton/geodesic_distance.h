#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "ops/skeleton/point_graph.h"
#include "spatial/kd_tree.h"

namespace pc {

/// Vertices with a distance, and what the search learned on its way.
struct GeodesicDistance {
  BulkVector<double> distance_m;       ///< (m) from the roots; infinite = not reached
  BulkVector<std::uint32_t> block;     ///< (m) connected vertices of one bin, named after the lowest
  BulkVector<std::uint32_t> previous;  ///< (m) vertex that it was reached from; itself for a root
  std::uint64_t bridge_count;
};

struct GeodesicParams {
  double edge_m;    ///< longest edge of the graph
  double bridge_m;  ///< longest gap that is bridged
  double root_m;    ///< height above the lowest vertex that counts as root
  double bin_m;     ///< length of a bin
  /// Joins the points of sparse surfaces (sparse_surfaces.h).
  bool joins_sparse_surfaces;
};

/// Shortest distances along the graph of all pairs of vertices within edge_m, and links over gaps, from the lowest
/// vertices of the main component. Every vertex stands for `weight` points.
///
/// tree     of the graph's vertices
/// Order    A function of the vertices.
/// Cost     O(m k log m), k neighbours within edge_m; 28 bytes per vertex.
/// Source   Dijkstra 1959.
GeodesicDistance geodesic_distance(const PointGraph& graph, const KdTree& tree,
                                   Span<const std::uint32_t> weight, const GeodesicParams& params,
                                   OpContext& ctx);

}  // namespace pc
