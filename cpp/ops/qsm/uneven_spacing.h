#pragma once
#include "core/op_context.h"
#include "ops/skeleton/point_graph.h"

namespace pc {

/// Spacing at which the sparse parts of a tree hang together, metres; that of the graph where it is enough.
///
/// A scanner near a tree sees its stem many times as densely as its crown. The skeleton joins points by the spacing of most of them,
/// so that such a crown falls apart and is lost.
///
/// Method   The distance that 95 % of the vertices have four others within is 4 to 5 spacings in evenly scanned trees. Where it is 8
///          and more, the spacing is a fifth of it.
/// Order    A function of the vertices.
/// Cost     O(m log m) time, 8 bytes a vertex. Cancel within 100 ms.
/// Source   Own.
double uneven_spacing(const PointGraph& graph, OpContext& ctx);

}  // namespace pc
