#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>

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

/// The same for points in another frame, without the phase.
DelaunayResult delaunay_in_plane(Span<const Vec3d> points, OpContext& ctx);

/// Whether a triangle is wanted, by the rows of its corners and their places in the plane. Called by several threads.
using TriangleFilter =
    std::function<bool(const std::array<std::uint32_t, 3>& rows, const std::array<Vec2d, 3>& places)>;

/// A triangulation of points in the plane, before its triangles are written.
class PlaneTriangulation {
 public:
  /// Errors of delaunay.
  PlaneTriangulation(Span<const Vec2d> points, DelaunayCuts cuts, OpContext& ctx);
  std::uint64_t repeated_count() const { return repeated_; }
  /// Rows on the outline of the convex hull, clockwise.
  BulkVector<std::uint32_t> outline(const OpContext& ctx) const;
  /// (T, 3) rows of the corners of the triangles that `wanted` accepts, or of all, then those of `tail`.
  Column<std::uint32_t> triangles(const TriangleFilter& wanted, Span<const std::uint32_t> tail,
                                  OpContext& ctx) const;

 private:
  std::size_t keep_firsts(const OpContext& ctx);

  BulkVector<std::uint32_t> rows_;  ///< in the order of the distinct points
  BulkVector<Vec2d> plane_;         ///< distinct, in order
  std::uint64_t repeated_ = 0;
  std::optional<DivideDelaunay<Vec2d>> mesh_;
};

/// Memory that delaunay needs besides the points, bytes.
constexpr std::uint64_t delaunay_bytes(std::uint64_t points) { return 144 * points; }

}  // namespace pc
