#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/span.h"
#include "core/vec3.h"

namespace pc {

struct TubePoint {
  Vec3d point;
  double radius;
};

/// A ring: where the cylinder round the segment that ends here meets the plane through `center`.
struct TubeRing {
  Vec3d center;
  double radius;
  Vec3d tangent;  ///< unit direction of that segment; at a start of the one that begins
  Vec3d plane;    ///< normal of the plane, any length; halves the bend
  Vec3d first;    ///< unit, perpendicular to `tangent`: direction of side 0
};

/// Closed tubes along polylines: pieces of at least two rings.
struct TubeRings {
  std::vector<TubeRing> rings;
  std::vector<std::size_t> piece_ends;  ///< (pieces) index after the last ring
};

/// Thinner and shorter tubes are not built, metres: float32 can hardly tell their corners apart.
inline constexpr double kLeastTube_m = 1e-5;

/// Rings along a polyline. They do not turn round the tube (parallel transport), and no two of them cross: points where
/// the tube would bend more sharply than its radius allows are left out. At bends above 100 degrees, and where the
/// polyline gets thinner than kLeastTube_m, a piece ends and the next one begins; every piece is closed.
///
/// normal   direction of side 0 at the start, across the first segment or anything else
void add_tube(Span<const TubePoint> line, const Vec3d& normal, TubeRings& tubes);

/// Radius of a polygon of `sides` corners with the area of a circle of radius 1.
inline double polygon_radius(std::size_t sides) {
  const double turn = 2 * std::numbers::pi / static_cast<double>(sides);
  return std::sqrt(turn / std::sin(turn));
}

/// Height below which all corners of a ring lie, whatever its bend.
inline double ring_top(const TubeRing& ring, std::size_t sides) {
  constexpr double kMostSlant = 1.6;  // no piece bends by more than 100 degrees: 1 / cos 50
  return ring.center.z + kMostSlant * ring.radius * polygon_radius(sides);
}

/// Cosine and sine of the corners of a regular polygon.
std::vector<std::array<double, 2>> polygon_corners(std::size_t sides);

/// Corners of a ring, counter-clockwise about its tangent; `corners` takes as many points as the polygon has.
void ring_corners(const TubeRing& ring, const std::vector<std::array<double, 2>>& polygon, Vec3d* corners);

/// Calls triangle(a, b, c, ring) for all triangles of (a part of) one piece, counter-clockwise seen from outside: two
/// per side and segment, and sides - 2 for each end that is closed.
template <class Triangle>
void tube_triangles(Span<const TubeRing> rings, std::size_t sides, bool has_start, bool has_end,
                    Triangle&& triangle) {
  const auto polygon = polygon_corners(sides);
  std::vector<Vec3d> low(sides), high(sides);
  ring_corners(rings[0], polygon, low.data());
  for (std::size_t k = 1; has_start && k + 1 < sides; ++k)
    triangle(low[0], low[k + 1], low[k], std::size_t{0});
  for (std::size_t i = 1; i < rings.size; ++i) {
    ring_corners(rings[i], polygon, high.data());
    for (std::size_t k = 0; k < sides; ++k) {
      const std::size_t next = k + 1 == sides ? 0 : k + 1;
      triangle(low[k], low[next], high[k], i - 1);
      triangle(low[next], high[next], high[k], i - 1);
    }
    low.swap(high);
  }
  for (std::size_t k = 1; has_end && k + 1 < sides; ++k) triangle(low[0], low[k], low[k + 1], rings.size - 1);
}

/// Volume of the round tube: frustums between the rings of each piece.
double tube_volume(const TubeRings& tubes);

}  // namespace pc
