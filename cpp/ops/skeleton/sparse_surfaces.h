#pragma once
#include <vector>

#include "core/op_context.h"
#include "ops/skeleton/point_graph.h"
#include "spatial/kd_tree.h"

namespace pc {

/// Links that keep a surface in one piece whose points are sparser than most of the cloud. At random places of a surface a
/// graph of fewer than about 4.5 neighbours per vertex falls apart, and somewhat above that its paths wind: distances along
/// it, and with them the level sets, mean nothing.
///
/// tree      of the graph's vertices
/// edge_m    longest edge of the graph, which has these without the links
/// Method    A vertex with fewer than 12 others within edge_m is linked to its 12 nearest within twice that, if these are as
///           on a surface (4 times as many within twice the radius; twigs have twice as many): at least 12 and at least 3
///           times as many as within edge_m, itself counted.
/// Returns   links longer than edge_m, by a, then b, each once
/// Order     A function of the vertices.
/// Cost      O(m log m) time; 24 bytes a link.
/// Source    4.51 neighbours: Dall & Christensen 2002, "Random geometric graphs", table I. The rest is our own.
std::vector<VertexLink> sparse_surface_links(const PointGraph& graph, const KdTree& tree, double edge_m,
                                             OpContext& ctx);

}  // namespace pc
