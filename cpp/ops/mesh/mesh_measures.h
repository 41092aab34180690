#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// Area of all triangles, square metres. Does not depend on the thread count. Errors: kInvalidArgument for an index
/// beyond the vertices.
double mesh_area(Span<const Vec3d> vertices, Span<const std::uint32_t> indices, OpContext& ctx);

/// (V, 3) unit normal of each vertex: the mean of its triangles, weighted by area; (0, 0, 1) for a vertex without one.
/// Does not depend on the thread count. Errors: kInvalidArgument for an index beyond the vertices.
Column<float> mesh_normals(Span<const Vec3d> vertices, Span<const std::uint32_t> indices, OpContext& ctx);

struct NarrowVertices {
  Column<float> vertices;  ///< (V, 3) metres
  double largest;          ///< largest absolute coordinate, metres
};
/// Vertices minus `shift`, subtracted in float64, as float32. Errors: kInvalidArgument if one is then beyond float32.
NarrowVertices narrow_vertices(Span<const Vec3d> vertices, const Vec3d& shift, OpContext& ctx);

}  // namespace pc
