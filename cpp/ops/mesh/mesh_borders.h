#pragma once
#include <cstddef>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// The edges of a mesh by the lower of their vertices.
///
/// triangles  (3 T) indices below `vertices`, which is below 2^31; no two run along an edge in the same direction
/// Cost       O(T log d + vertices), d = most triangles at a vertex; 12 bytes per triangle, 16 per vertex.
class MeshEdges {
 public:
  MeshEdges(Span<const std::uint32_t> triangles, std::size_t vertices, OpContext& ctx);

  bool has(std::uint32_t a, std::uint32_t b) const;
  /// Calls visit(from, to) for every edge of one triangle, as the triangle runs along it, by the lower vertex.
  template <class Visit>
  void for_each_open(OpContext& ctx, const Visit& visit) const {
    for (std::size_t v = 0; v + 1 < first_.size(); ++v) {
      if (v % 65'536 == 0) ctx.checkpoint();
      const auto low = static_cast<std::uint32_t>(v);
      for (std::uint64_t e = first_[v]; e < first_[v + 1]; ++e) {
        const bool is_paired = e + 1 < first_[v + 1] && codes_[e] >> 1 == codes_[e + 1] >> 1;
        if (is_paired) {
          ++e;
          continue;
        }
        const std::uint32_t high = codes_[e] >> 1;
        if ((codes_[e] & 1) != 0)
          visit(low, high);
        else
          visit(high, low);
      }
    }
  }

 private:
  BulkVector<std::uint64_t> first_;  ///< (vertices + 1) where the edges of each lower vertex begin
  BulkVector<std::uint32_t> codes_;  ///< ascending: 2 x higher vertex, + 1 if the triangle runs towards it
};

/// Closed loops of edges of one triangle.
struct MeshBorders {
  BulkVector<std::uint32_t>
      corners;  ///< loop by loop, with the gap on their left seen from the side of the normals
  BulkVector<std::uint64_t> first;  ///< (loops + 1) where each begins
  std::uint64_t edge_count;         ///< edges of one triangle, in loops or not
};

/// The borders of at most `most_corners` edges, in an order that follows from the triangles alone. Where borders touch at a
/// vertex, each goes on with the edge that is next to it across the gap, in the plane of the vertex's normal.
MeshBorders mesh_borders(Span<const Vec3d> places, Span<const Vec3d> normals, const MeshEdges& edges,
                         std::size_t most_corners, OpContext& ctx);

}  // namespace pc
