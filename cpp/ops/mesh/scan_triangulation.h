#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/mesh/delaunay.h"

namespace pc {

struct ScanTriangulation {
  Column<std::uint32_t> indices;  ///< (T, 3) rows of the points, counter-clockwise seen from the scanner
  std::uint64_t repeated_count;   ///< points in exactly the direction of another one, which are left out
  std::uint64_t unusable_count;   ///< points that are not finite, at the scanner or 2^100 m from it: left out
};

/// Angular triangulation of a static scan: the Delaunay triangulation of the directions from the scanner on the sphere,
/// without seam and poles. A triangle is one whose circle on the sphere contains no other direction and is smaller than a
/// half sphere, so it covers the spherical convex hull of the directions, or the whole sphere.
///
/// points   (n) metres, any one Cartesian frame; of points in one direction the first row is used. Fewer than 3: no
///          triangles
/// origin   scanner, metres, frame of the points
/// Order    A function of the points and the origin alone, for any thread count. For directions on one circle any of the
///          valid triangulations may result, the same in every run.
/// Cost     O(n log n) time; scan_triangulation_bytes of memory.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: an origin that is not finite, 2^29 points or more, a point within 1e-10 rad of each of the
///          directions that the projection may start from.
/// Source   Brown 1979, Information Processing Letters 9, "Voronoi diagrams from convex hulls": circles on the sphere are
///          circles in its stereographic projection, so triangles whose circle does not contain the projection's centre
///          are those of the plane. The others lie within the outline of the plane's, and come from a second projection,
///          of the outline alone, from the opposite centre.
ScanTriangulation scan_triangulation(HitPoints points, const Vec3d& origin, OpContext& ctx);

/// Memory that scan_triangulation needs besides the points, bytes.
constexpr std::uint64_t scan_triangulation_bytes(std::uint64_t points) {
  return delaunay_bytes(points) + 28 * points;
}

}  // namespace pc
