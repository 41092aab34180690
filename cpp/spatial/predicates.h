#pragma once
#include <cmath>

#include "core/vec3.h"

/// Signs of determinants of coordinates, exact within kMostCoordinate: rounded arithmetic with
/// an error bound first, then sums of two doubles, then expansions of any length.
///
/// Source   The determinants are those of Shewchuk 1997, Discrete & Computational Geometry 18, 305-363; the bounds of
///          rounded arithmetic are his (16 + 224 eps) eps and so on times the largest value that each sum of absolute
///          products can have.
namespace pc {

struct Vec2d {
  double x, y;
  friend bool operator==(const Vec2d& a, const Vec2d& b) { return a.x == b.x && a.y == b.y; }
};

/// Largest coordinate that the predicates take, metres: their products stay far from overflow.
inline constexpr double kMostCoordinate = 0x1p100;

/// The coordinate as the predicates take it: a multiple of 2^-150, so that no product of five underflows. Only values
/// below 2^-97 change at all.
inline double exact_coordinate(double value) {
  if (std::fabs(value) >= 0x1p-97) return value;
  return std::nearbyint(value * 0x1p150) * 0x1p-150 + 0.0;  // + 0: no negative zero
}
inline bool in_exact_range(double value) { return std::fabs(value) <= kMostCoordinate; }
inline bool in_exact_range(const Vec3d& p) {
  return in_exact_range(p.x) && in_exact_range(p.y) && in_exact_range(p.z);
}
inline Vec3d exact_point(const Vec3d& p) {
  return {exact_coordinate(p.x), exact_coordinate(p.y), exact_coordinate(p.z)};
}

/// 1: a b c turn left (counter-clockwise), -1: right, 0: on one line.
int orient_2d(const Vec2d& a, const Vec2d& b, const Vec2d& c);
/// 1: d lies inside the circle through a, b, c (counter-clockwise), -1: outside, 0: on it.
int in_circle(const Vec2d& a, const Vec2d& b, const Vec2d& c, const Vec2d& d);

/// 1: d is on the side of the plane from which a b c turn right, -1: left, 0: on the plane. The tetrahedron a b c d has
/// positive volume if 1.
int orient_3d(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d);
/// 1: e lies inside the sphere through a, b, c, d (positive volume), -1: outside, 0: on it.
int in_sphere(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d, const Vec3d& e);
/// Like in_sphere for distinct points, but never 0: the height of each point on the paraboloid is raised by an infinitely
/// small amount, the more the later the point comes in the order of x, then y, then z. The tetrahedra with empty spheres
/// are then unique, and none of them is flat.
/// Source: Devillers & Teillaud 2011, Computational Geometry 44, 160-168 (perturbation of the lifted points).
int in_perturbed_sphere(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d, const Vec3d& e);

}  // namespace pc
