#pragma once
#include <cstddef>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/bvh_view.h"

namespace pc {

/// Triangles of shared vertices. Refers to memory of the caller.
struct TriangleMesh {
  Span<const Vec3d> vertices;         ///< (V) metres
  Span<const std::uint32_t> indices;  ///< (3 T) vertices of each triangle

  std::size_t triangle_count() const { return indices.size / 3; }
};

/// A bounding volume hierarchy over the triangles of a mesh, for closest points and rays (bvh_queries.h).
///
/// mesh     Needed during construction alone. Triangles without area are kept: they count as segments or points in
///          closest-point queries, and no ray hits them.
/// Order    A function of the mesh, for any thread count.
/// Cost     O(n log n) time; 80 bytes per triangle for its corners, about 50 for nodes, 32 of scratch.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: indices not a multiple of 3 or beyond the vertices, a vertex that is not finite or beyond
///          1e15 m, 2^31 triangles or more. The message names the first offender.
/// Source   Binned surface area heuristic: Wald, On fast construction of SAH-based bounding volume hierarchies, 2007.
///          A node opens its child of the largest area until it has eight: Wald, Benthin & Boulos, Getting rid of
///          packets, 2008. Triangles in one place that are equal are kept once, with the lowest index.
class Bvh {
 public:
  Bvh(const TriangleMesh& mesh, OpContext& ctx);

  BvhView view() const { return {nodes_.data(), triangles_.data(), nodes_.size(), origin_}; }
  Span<const bvh::Node> nodes() const { return nodes_.view(); }
  Span<const bvh::Triangle> triangles() const { return triangles_.view(); }

 private:
  BulkVector<bvh::Node> nodes_;
  BulkVector<bvh::Triangle> triangles_;
  Vec3d origin_{0, 0, 0};
};

/// Throws the errors of Bvh for indices and vertices. Cancel within 50 ms.
void check_mesh(const TriangleMesh& mesh, OpContext& ctx);

}  // namespace pc
