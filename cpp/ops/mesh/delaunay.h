#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "spatial/divide_delaunay.h"

namespace pc {

struct DelaunayResult {
  Column<std::uint32_t> indices;  ///< (T, 3) rows of the points, counter-clockwise seen from above
  std::uint64_t
      repeated_count;  ///< points above or below another one with the same x and y, which are left out
};

/// Delaunay triangulation in x and y, lifted to the heights of the points: a terrain of all points.
///
/// points   (n) metres; of points with the same x and y the first row is used
/// Order    Triangles in an order that is a function of the points alone, for any thread count. For points on one circle
///          any of the valid triangulations may result, the same in every run.
/// Cost     O(n log n) time; delaunay_bytes of memory. Cancel within 50 ms.
/// Errors   kInvalidArgument: a coordinate that is not finite or beyond 2^100 m, 2^29 points or more.
/// Source   Guibas & Stolfi 1985 (see spatial/divide_delaunay.h), with exact predicates after Shewchuk 1997.
DelaunayResult delaunay(HitPoints points, OpContext& ctx);

/// The same for points in another frame, without the phase. `outline`, if not null, receives the rows on the outline of
/// the convex hull, clockwise.
DelaunayResult delaunay_in_plane(Span<const Vec3d> points, OpContext& ctx,
                                 BulkVector<std::uint32_t>* outline = nullptr,
                                 DelaunayCuts cuts = DelaunayCuts::kUpright);

/// Memory that delaunay needs besides the points, bytes.
constexpr std::uint64_t delaunay_bytes(std::uint64_t points) { return 144 * points; }

}  // namespace pc
