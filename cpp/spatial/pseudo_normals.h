#pragma once
#include <cstddef>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/vec3.h"
#include "spatial/bvh.h"
#include "spatial/triangle_distance.h"

namespace pc {

/// Tells the inside of a closed mesh from the outside at the closest point of a query: by the normal of the face, by the
/// sum of the normals of the two faces of an edge, and by the sum of the normals of all faces of a vertex, each weighted by
/// its angle there.
///
/// mesh     Must outlive this object. A mesh is closed if every edge belongs to two triangles that run along it in
///          opposite directions; if its indices are not, vertices at equal places count as one.
/// Sign     Of a mesh that encloses a negative volume the sides are exchanged, so that it does not matter which way its
///          faces are wound. A mesh that meets itself, or with parts that are wound differently, has no inside that a sign
///          could tell; this is not examined.
/// Order    A function of the mesh, for any thread count.
/// Cost     O(n log n) time; 12 bytes per edge of a triangle, and 24 per vertex, kept; 36 of scratch.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: those of Bvh, more than 1431655765 triangles.
/// Source   Baerentzen & Aanaes, Signed distance computation using the angle weighted pseudonormal, 2005.
class PseudoNormals {
 public:
  PseudoNormals(const TriangleMesh& mesh, OpContext& ctx);

  /// Whether sides are defined: the mesh is closed and every triangle has a normal.
  bool defined() const { return open_edge_count_ == 0 && flat_count_ == 0 && mesh_.indices.size > 0; }
  /// Edges that do not belong to two triangles with opposite directions.
  std::uint64_t open_edge_count() const { return open_edge_count_; }
  /// Triangles without area, or too thin for a normal.
  std::uint64_t flat_count() const { return flat_count_; }
  /// Whether the query lies inside; `closest` is its closest point on triangle `triangle` of the mesh.
  bool inside(std::uint32_t triangle, const TrianglePoint& closest) const;

 private:
  bool pair_edges(Span<const std::uint32_t> indices, OpContext& ctx);
  bool weld(OpContext& ctx);
  void sum_at_vertices(OpContext& ctx);
  Vec3d corner(std::size_t triangle, std::size_t k) const {
    return mesh_.vertices[mesh_.indices[3 * triangle + k]] - origin_;
  }
  Vec3d face_normal(std::size_t triangle) const;

  TriangleMesh mesh_;
  Vec3d origin_{0, 0, 0};
  BulkVector<std::uint32_t> welded_;    ///< indices after welding; empty = those of the mesh
  BulkVector<std::uint32_t> neighbor_;  ///< triangle on the other side of each edge
  BulkVector<Vec3d> at_vertex_;
  std::uint64_t open_edge_count_ = 0, flat_count_ = 0;
  bool inverted_ = false;
};

}  // namespace pc
