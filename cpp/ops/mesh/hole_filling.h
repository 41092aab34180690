#pragma once
#include <cstdint>
#include <functional>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

struct HoleFilling {
  BulkVector<std::uint32_t> triangles;  ///< (3 F) corners of the triangles that fill holes
  std::uint64_t filled_count;           ///< holes that were filled
  std::uint64_t open_edge_count;        ///< edges of one triangle that remain
};

/// Fills the holes of at most 48 edges over which a ball of a given radius would roll.
///
/// places     (n) metres, any one Cartesian frame
/// normals    (n) of the surface, unit vectors
/// triangles  (3 T) indices below n; no edge has more than two triangles, and those run along it in opposite directions
/// radius_at  of the ball, metres, for a hole that begins at this place
/// Holes      Every filling triangle has a circle through its corners that is no wider than the ball, and faces the side of
///            the normals of its corners: the cosines between it and them add up to more than 1.2. Borders of open surfaces
///            and the ends of tubes stay: their filling would face the other side, or stand across. Edges keep at most two
///            triangles, in opposite directions. Points inside a hole that belong to no triangle are left out.
/// Order      Bit-identical for any thread count.
/// Cost       O(n + T) and, for each hole of k edges, k^3 / 6 triangles (under 2 ms); 30 T bytes.
/// Cancel     Within 50 ms.
/// Source     Barequet & Sharir 1995, "Filling gaps in the boundary of a polyhedron": the best triangulation of a polygon in
///            space by dynamic programming. Here the sum of area times squared edge lengths is least instead of the area:
///            in a plane that is the Delaunay triangulation (Rajan 1994, "Optimality of the Delaunay triangulation in R^d").
HoleFilling fill_holes(Span<const Vec3d> places, Span<const Vec3d> normals,
                       Span<const std::uint32_t> triangles,
                       const std::function<double(const Vec3d&)>& radius_at, OpContext& ctx);

}  // namespace pc
