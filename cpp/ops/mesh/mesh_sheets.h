#pragma once
#include <array>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

using TriangleCorners = std::array<std::uint32_t, 3>;

/// What cut_into_sheets changed.
struct MeshSheets {
  BulkVector<std::uint32_t> copy_of;     ///< vertex of which each new one, numbered from V on, is a copy
  std::uint64_t crowded_edge_count = 0;  ///< edges of more than two triangles
  std::uint64_t turned_count = 0;        ///< triangles whose sense of rotation was reversed
};

/// Cuts a mesh where it is no surface: all triangles stay, and vertices are copied so that afterwards no edge has more than
/// two triangles, those run along it in opposite directions, and the triangles at a vertex are linked by edges.
///
/// Edges    The triangles of a crowded edge are taken by their angle around it. If their directions alternate they bound
///          solids, and the two that bound the same solid stay joined. Otherwise the pair closest to a plane stays joined,
///          then the next one; pairs that run in the same direction count as less plane by 0.5 of the cosine.
/// Sense    Where joined triangles run along their edge in the same direction, the ones with less area in their component are
///          turned; a one-sided component is cut until it has two sides.
/// vertices (V) finite, V below 2^32
/// corners  (T) below V, each with area, T < 2^30; gets the numbers of the copies
/// Order    A function of the input, for any thread count. A vertex keeps its number for the first triangle that has it.
/// Cost     O(V + T log degree) time; 41 bytes per triangle and 12 per vertex. Cancel within 100 ms.
/// Source   Gueziec, Taubin, Lazarus & Horn 2001, "Cutting and stitching: converting sets of polygons to manifold surfaces".
///          Where two joined pairs would get the same copies at both ends, they are joined the other way round; where that
///          is not enough, triangles are cut off.
MeshSheets cut_into_sheets(Span<const Vec3d> vertices, Span<TriangleCorners> corners, OpContext& ctx);

}  // namespace pc
