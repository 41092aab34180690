#pragma once
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/trees/cut_pursuit_graph.h"

namespace pc {

struct CutPursuitSegments {
  BulkVector<std::uint32_t> segment;  ///< (n) 0 .. count - 1, numbered by their lowest node
  std::uint32_t count = 0;
  std::vector<double> energy;  ///< at the start and after each round; never rises
};

/// A piecewise constant approximation x of values y on a graph: looks for the least
///   E(x) = sum over nodes of w_i |x_i - y_i|^2 + sum of the weights of edges {i, j} with x_i != x_j.
///
/// graph    (n) nodes
/// value    (n) y, finite; z = 0 for values in the plane
/// weight   (n) w, > 0
/// Method   Starts from the connected components of the graph. A round splits each segment in two sides by the steepest
///          binary cut, found by turns for the sides (minimum cut) and their means, from a start at two means; connected
///          pieces of the sides become segments if that lowers E. Then pairs of neighbouring segments are joined, the
///          largest gain first, while E falls. Ends when no segment can be split.
/// Order    A function of the graph and values, for any thread count.
/// Cost     Rounds are about log2 of the segments per component, each a few minimum cuts over the graph: 10 s of one
///          core per million nodes with 7 arcs each; it grows with about the square of the arcs: 60 s for 0.1M nodes in a
///          volume with 60 arcs each. 48 bytes per node and 8 per arc.
/// Cancel   Within 50 ms; progress counts segments that were tried.
/// Source   Landrieu & Obozinski 2017, SIAM J. Imaging Sciences 10: 1724, sections 3.1 to 3.3 (l0 cut pursuit: binary
///          partitions, merging). Own: the two-mean start along the longest axis in place of random ones.
CutPursuitSegments cut_pursuit(const CutGraph& graph, Span<const Vec3d> value, Span<const double> weight,
                               OpContext& ctx);

}  // namespace pc
