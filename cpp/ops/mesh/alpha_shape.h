#pragma once
#include <cstdint>
#include <optional>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "spatial/delaunay_tetrahedra.h"

namespace pc {

struct AlphaShapeParams {
  std::optional<double> alpha_m;  ///< radius of the ball, metres, > 0; none = automatic
};

/// What the triangles are.
enum class AlphaFaces : std::uint8_t {
  kSolid,  ///< the boundary of the solid part, outward
  kSheet,  ///< that, and then the sheet faces, turned away from the centroid of the points
};

struct AlphaShapeResult {
  Column<std::uint32_t> indices;  ///< (T, 3) rows of the points
  AlphaFaces faces;
  double alpha_m;                ///< radius used, metres; 0 if all points are at one place
  double mean_spacing_m;         ///< mean distance from a point to the nearest other one, metres
  double volume_m3;              ///< of the solid part, cubic metres
  std::uint64_t repeated_count;  ///< points at the place of another one, which are left out
  std::uint64_t sheet_count;     ///< faces of the alpha complex without a solid part on either side
};

/// Alpha shape: the boundary of the solid part, which are all tetrahedra of the Delaunay tetrahedralization whose sphere
/// through the corners has a radius of at most alpha (the regular faces of the regularized alpha shape).
///
/// Where points lie on a plane, or on a smooth surface without noise, there is little or nothing solid. If most faces of
/// the alpha complex are sheet faces (singular ones: their smallest ball is empty and no larger than alpha, and no solid
/// tetrahedron is on either side), they are part of the result; otherwise they are left out.
///
/// Alpha    Automatic: automatic_alpha.
/// points   (n) metres. No jitter: predicates are exact and ties are broken by a perturbation of no size, so that grids
///          and planes need none.
/// Order    Which triangles there are depends on the set of points alone; their order also on that of the points. The
///          same for any thread count.
/// Cost     O(n log n) expected for scans of objects; alpha_shape_bytes of memory. Cancel within 50 ms.
/// Errors   kInvalidArgument: alpha, coordinates that are not finite or beyond 2^100 m. kOutOfMemory: see
///          spatial/delaunay_tetrahedra.h.
/// Source   Edelsbrunner & Mücke 1994, ACM TOG 13, 43-72. Radii are computed in doubles with their error bound, in sums of
///          two doubles where that leaves the comparison with alpha open.
AlphaShapeResult alpha_shape(HitPoints points, const AlphaShapeParams& params, OpContext& ctx);

/// Twice the mean spacing or, where that is more, 1.4 times the 90th percentile of the gaps of a surface (surface_gaps.h): scans
/// with rows far apart, and points without an order, as of several scans, which would have holes in two fifths of their
/// surface.
double automatic_alpha(Span<const Vec3d> points, double mean_spacing_m, OpContext& ctx);

/// Memory that alpha_shape needs besides the points, bytes.
constexpr std::uint64_t alpha_shape_bytes(std::uint64_t points) {
  return (kDelaunayBytesPerPoint + 110) * points;
}

}  // namespace pc
