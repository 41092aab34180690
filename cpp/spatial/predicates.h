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

/// orient_2d without the rounded attempt.
int exact_orient_2d(const Vec2d& a, const Vec2d& b, const Vec2d& c);

/// 1: a b c turn left (counter-clockwise), -1: right, 0: on one line.
inline int orient_2d(const Vec2d& a, const Vec2d& b, const Vec2d& c) {
  constexpr double kEpsilon = 0x1p-53;
  const double left = (a.x - c.x) * (b.y - c.y), right = (a.y - c.y) * (b.x - c.x), det = left - right;
  const double bound = (3 + 16 * kEpsilon) * kEpsilon * (std::fabs(left) + std::fabs(right));
  if (std::fabs(det) > bound || bound == 0) return (det > 0) - (det < 0);
  return exact_orient_2d(a, b, c);
}

/// in_circle without the rounded attempt; `most` is the sum of its absolute products.
int exact_in_circle(const Vec2d& a, const Vec2d& b, const Vec2d& c, const Vec2d& d, double most);

/// 1: d lies inside the circle through a, b, c (counter-clockwise), -1: outside, 0: on it.
inline int in_circle(const Vec2d& a, const Vec2d& b, const Vec2d& c, const Vec2d& d) {
  constexpr double kEpsilon = 0x1p-53;
  const Vec2d p{a.x - d.x, a.y - d.y}, q{b.x - d.x, b.y - d.y}, s{c.x - d.x, c.y - d.y};
  const double qs = q.x * s.y, sq = s.x * q.y, sp = s.x * p.y, ps = p.x * s.y, pq = p.x * q.y, qp = q.x * p.y;
  const double lift_p = p.x * p.x + p.y * p.y, lift_q = q.x * q.x + q.y * q.y, lift_s = s.x * s.x + s.y * s.y;
  const double det = lift_p * (qs - sq) + lift_q * (sp - ps) + lift_s * (pq - qp);
  // The sum of absolute products, not the largest coordinates as in space: long thin triangles are frequent in the plane.
  const double most = lift_p * (std::fabs(qs) + std::fabs(sq)) + lift_q * (std::fabs(sp) + std::fabs(ps)) +
                      lift_s * (std::fabs(pq) + std::fabs(qp));
  if (std::fabs(det) > (10 + 96 * kEpsilon) * kEpsilon * most || most == 0) return (det > 0) - (det < 0);
  return exact_in_circle(a, b, c, d, most);
}

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
