#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// A cloud by position, and its points reduced to vertices about one spacing apart.
struct PointGraph {
  Vec3d origin;                     ///< of all local positions
  BulkVector<std::uint32_t> order;  ///< (f) rows of the finite points, by position
  BulkVector<Vec3d> local;          ///< (f) their positions (local_position of cut_pursuit_nodes.h)
  double spacing_m =
      0;  ///< median distance to the nearest point elsewhere, but at least the one asked for; NaN: one place
  BulkVector<Vec3d> vertex;            ///< (m) local positions, in Morton order
  BulkVector<std::uint32_t> of_point;  ///< (f) vertex of each point
};

/// A link between two vertices, `squared` apart; a < b.
struct VertexLink {
  std::uint32_t a, b;
  double squared;
};

/// points   (n) metres; rows that are not finite are left out
/// least_spacing_m  a floor of the spacing, for clouds whose noise is more than their spacing; 0 = none
/// Order    Vertices are a function of the positions, not of the rows.
/// Cost     O(n log n) time, 130 bytes per point at the peak.
PointGraph point_graph(Span<const Vec3d> points, double least_spacing_m, OpContext& ctx);

/// The shortest links that join other components to the one with the most weight, one after another, until none is left
/// within `reach_m` (Prim's algorithm on the components; found by Boruvka's). Equal lengths: lowest vertices first.
///
/// vertices   (m) local positions
/// component  (m) named after its lowest vertex; on return, the largest one and all that are joined to it have one name
/// weight     (m) of each vertex
struct GapBridges {
  std::vector<VertexLink> links;  ///< of the main component, by a, then b
  std::uint32_t main_component;   ///< its name
};
GapBridges gap_bridges(Span<const Vec3d> vertices, Span<std::uint32_t> component,
                       Span<const std::uint32_t> weight, double reach_m, OpContext& ctx);

}  // namespace pc
