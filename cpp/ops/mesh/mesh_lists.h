#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/bvh.h"

namespace pc {

/// A mesh that owns its arrays.
struct MeshColumns {
  Column<Vec3d> vertices;         ///< (V) metres
  Column<std::uint32_t> indices;  ///< (3 T)

  TriangleMesh view() const { return {vertices.view(), indices.view()}; }
};

/// A mesh from the flat lists of a request.
///
/// vertices  (3 V) x, y, z in turn, metres
/// indices   (3 T) vertices of each triangle, from 0
/// Cost      One pass over both. Cancel within 50 ms.
/// Errors    kInvalidArgument: a length that is no multiple of 3; an index that is not whole or beyond the vertices; a
///           vertex that is not finite or beyond 1e15 m. The message names the first offender.
MeshColumns mesh_of_lists(Span<const double> vertices, Span<const double> indices, OpContext& ctx);

/// (n) points from a flat list x, y, z in turn. Errors: kInvalidArgument for a length that is no multiple of 3.
Column<Vec3d> points_of_list(Span<const double> coordinates, OpContext& ctx);

}  // namespace pc
