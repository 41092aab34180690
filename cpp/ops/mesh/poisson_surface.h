#pragma once
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/vec3.h"
#include "ops/mesh/poisson_octree.h"

namespace pc::poisson_detail {

/// Triangles in the unit cube, counter-clockwise seen from where the function is larger.
struct UnitMesh {
  BulkVector<Vec3d> vertices;
  BulkVector<std::uint32_t> indices;  ///< (3 T)
};

/// The surface where the solution is `iso`. Two triangles meet at every edge inside the cube, in opposite directions;
/// edges on the cube's boundary have one triangle.
///
/// Order    Bit-identical for any thread count.
/// Errors   kUnsupported: 2^31 vertices or more.
/// Source   Kazhdan, Klein, Dalal & Hoppe 2007, "Unconstrained isosurface extraction on arbitrary octrees": a vertex on
///          every edge that no smaller cell divides; on every face that no smaller cell divides, segments between them;
///          in each leaf, the loops of segments. Here the function is linear along an edge and bilinear on a face of the
///          larger cell, so an edge has at most one vertex and faces with four are decided by the saddle (Nielson & Hamann
///          1991), the same from both sides. Loops are cut by diagonals that do not run within a face of the leaf, so no
///          other leaf has the same one; where there is none, by a vertex in the middle.
UnitMesh extract_surface(const std::vector<Level>& levels, double iso, OpContext& ctx);

}  // namespace pc::poisson_detail
