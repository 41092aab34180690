#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// How much of a mesh lies where no points are, so that a method has drawn it from those around.
struct FarArea {
  double share;  ///< of the area, 0..1
  double
      reach_m;  ///< farther from the nearest point than this; NaN with fewer than 16 places, of which nothing is far
};

/// Area of the triangles whose middle is farther from every point than twice the typical distance of a point from the 8th place
/// nearest to it. On a surface with points spread evenly at random nothing is; reconstructions that close holes, and those of points
/// that are sparse in a part, have much.
///
/// points   (n) metres, in the frame of the vertices
/// Samples  Of the triangles 100,000 at most, of the points 2,000, evenly spaced rows.
/// Order    Bit-identical for any thread count.
/// Cost     O(n log n), 40 bytes per point. Cancel within 50 ms.
/// Errors   kInvalidArgument for an index beyond the vertices.
/// Source   Own.
FarArea far_area(Span<const Vec3d> vertices, Span<const std::uint32_t> indices, Span<const Vec3d> points,
                 OpContext& ctx);

/// Memory of far_area besides its arguments, bytes.
std::uint64_t far_area_bytes(std::uint64_t points);

}  // namespace pc
