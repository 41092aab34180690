#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// How rough the triangles of a mesh lie about the surface that its vertices show, and how much of them lies on both faces of it.
struct MeshRelief {
  double flat_share;  ///< of the places looked at, where such a surface was found, 0..1
  double
      area_ratio;  ///< area of the triangles over that of the surface under them, at least 1; 1 without a place
  double
      two_faced_share;  ///< of that area, what faces against as much beside it, 0..1: both faces of something thin
  double scatter_m;  ///< of the vertices about the surface: root mean square, metres
  double spacing_m;  ///< of the vertices on it, metres
};

/// Noise makes triangles rough: between points that scatter as far as they are apart their area is 1.4 times that of the
/// surface (ball pivoting) to 3 times (alpha shapes, which are then solid: two faces).
///
/// Places   4096 vertices at most, evenly spaced rows of those that have a triangle.
/// Surface  The quadratic z(x, y) of least squares through the 64 nearest vertices, about their plane; through 256 or, of
///          every 16th vertex, 256, where the nearer ones scatter more than 5 % of their variance about it. A place without
///          is left out: twigs, crowns.
/// Area     Triangles of the 64 nearest vertices, a third each: their area, and its projections along the normal of the surface
///          below them, with and without sign. Ratios are of sums over all places.
/// Order    Bit-identical for any thread count.
/// Cost     16 bytes per triangle corner; a millisecond per 10 places. Cancel within 50 ms.
/// Errors   kInvalidArgument for an index beyond the vertices.
/// Source   Own. Area of triangles between noisy points: the Schwarz lantern.
MeshRelief mesh_relief(Span<const Vec3d> vertices, Span<const std::uint32_t> indices, OpContext& ctx);

/// Memory of mesh_relief besides its arguments, bytes.
std::uint64_t mesh_relief_bytes(std::uint64_t vertices, std::uint64_t triangles);

}  // namespace pc
