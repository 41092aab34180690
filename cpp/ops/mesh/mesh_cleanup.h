#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

struct CleanMesh {
  Column<Vec3d> vertices;  ///< (V) those of triangles, in the order of the input, then copies
  Column<std::uint32_t>
      indices;  ///< (T, 3) in the order of the input, each starting at the same corner as there
  std::uint64_t merged_vertex_count = 0;  ///< vertices of triangles at the place of an earlier one
  std::uint64_t flat_count = 0;  ///< triangles with two equal corners or without area, which are left out
  std::uint64_t repeated_count =
      0;  ///< triangles with the corners of an earlier one in the same sense of rotation
  std::uint64_t crowded_edge_count = 0;   ///< edges of more than two triangles, which were cut
  std::uint64_t copied_vertex_count = 0;  ///< vertices added where the mesh was cut
  std::uint64_t turned_count = 0;         ///< triangles turned to the sense of rotation of their component
};

/// Cleans a mesh: merges vertices at one place, then removes degenerate triangles, then repeated ones, cuts it into surfaces
/// at edges of more than two triangles and at vertices where surfaces touch (mesh_sheets.h), and removes vertices without a
/// triangle. All triangles with an area stay.
///
/// vertices  (V) metres, finite
/// indices   (T, 3) below V
/// Order     A function of the input, for any thread count: of equal things the first stays.
/// Cost      O(V + T log degree) time; mesh_cleanup_bytes of memory. Cancel within 100 ms.
/// Errors    kInvalidArgument: an index beyond the vertices, 2^30 triangles or more.
/// Source    contract core 6, clean-up; it drops triangles at edges of more than two instead.
CleanMesh mesh_cleanup(Span<const Vec3d> vertices, Span<const std::uint32_t> indices, OpContext& ctx);

/// Memory that mesh_cleanup needs besides its input, bytes, with what it returns; at most one vertex per triangle is copied.
constexpr std::uint64_t mesh_cleanup_bytes(std::uint64_t vertices, std::uint64_t triangles) {
  return 48 * vertices + 88 * triangles;
}

}  // namespace pc
