#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/polygon_mesh.h"
#include "ops/mesh/polygon_triangulation.h"

namespace pc {

/// Arrays of a triangle mesh as a renderer takes them: float32, one entry per vertex.
struct PackedMesh {
  Column<float> vertices;         ///< (3 V) metres
  Column<std::uint32_t> indices;  ///< (3 T)
  Column<float> normals;          ///< (3 V)
  Column<float> colors;           ///< (3 V) 0..1, NaN = none; empty if the mesh has none
  Column<float> uvs;              ///< (2 V) v downwards (1 - v of the file); empty if the mesh has none
  Column<std::uint32_t> triangle_material;  ///< (T) or kNoIndex; of shared vertices: empty
  std::uint64_t flat_count = 0;             ///< triangles without area
  Box3d bounds;                             ///< of the vertices that triangles use, before they are narrowed
};

/// Vertices of their own for every triangle, so that parts of the mesh can be taken out.
///
/// Normals  Those of the corners, zero for a corner without one; if all three are zero, the normal of the triangle, and
///          (0, 0, 1) for one without area.
/// Order    Triangle order; bit-identical for any thread count.
/// Cost     One pass; 96 bytes per triangle, 36 with colours and 24 with texture coordinates more.
/// Cancel   Within 50 ms; no partial result.
/// Errors   kUnsupported: more vertices than 32-bit indices can count.
PackedMesh expand_triangles(const PolygonMesh& mesh, const Triangulation& triangles, OpContext& ctx);

/// Vertices shared by triangles, as in the file. Vertices that are not finite are left out. The normals must be one per
/// vertex, or none: then each vertex gets the sum of the normals of its triangles, weighted by area, as a unit vector;
/// (0, 0, 1) where that is zero.
///
/// Order, cancel and errors as expand_triangles; cost 48 bytes per vertex and 12 per triangle.
PackedMesh share_vertices(const PolygonMesh& mesh, const Triangulation& triangles, OpContext& ctx);

/// (9 T) colours of an expanded mesh: of the triangle's material, else of the vertex, else 0.8 (grey).
///
/// triangle_material  (T) index in material_colors / 3, or kNoIndex
/// material_colors    (3 M) 0..1; NaN = the material has no colour
/// vertex_colors      (9 T) NaN = none; may be empty
/// Errors  kInvalidArgument for lengths that do not fit, and an index beyond the colours.
Column<float> paint_triangles(Span<const std::uint32_t> triangle_material,
                              const std::vector<float>& material_colors, Span<const float> vertex_colors,
                              OpContext& ctx);

/// Triangles of each material, in ascending order, one material after the other.
struct MaterialGroups {
  Column<std::uint32_t> triangles;    ///< those with a material
  std::vector<std::uint64_t> firsts;  ///< (M + 1) first entry of each material
};
/// Errors  kInvalidArgument for an index of `material_count` or more that is not kNoIndex.
MaterialGroups group_triangles(Span<const std::uint32_t> triangle_material, std::size_t material_count,
                               OpContext& ctx);

}  // namespace pc
