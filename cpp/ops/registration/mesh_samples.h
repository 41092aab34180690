#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/vec3.h"
#include "spatial/bvh.h"

namespace pc {

/// Points spread evenly over the area of a mesh. The area, triangle after triangle, is cut into `count` equal parts; each
/// gets one point at a random place.
///
/// mesh     T triangles, metres
/// count    >= 1
/// Order    Depends on the mesh, count and seed only.
/// Cost     O(T + count log T); 8 T + 24 count bytes.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: an index beyond the vertices; no triangle of a finite area greater than 0.
/// Source   Stratified sampling; place within a triangle: Osada et al. 2002, "Shape distributions", section 3.2.
Column<Vec3d> mesh_samples(const TriangleMesh& mesh, std::size_t count, std::uint64_t seed, OpContext& ctx);

}  // namespace pc
