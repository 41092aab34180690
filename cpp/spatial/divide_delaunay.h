#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "spatial/lattice_point.h"
#include "spatial/predicates.h"

namespace pc {

/// Signs of the predicates and order of the points, for both kinds of points.
inline int orient_sign(const LatticePoint& a, const LatticePoint& b, const LatticePoint& c) {
  const std::int64_t area = lattice_orient(a, b, c);
  return (area > 0) - (area < 0);
}
inline int orient_sign(const Vec2d& a, const Vec2d& b, const Vec2d& c) { return orient_2d(a, b, c); }
inline bool is_before(const LatticePoint& a, const LatticePoint& b) {
  return a.u != b.u ? a.u < b.u : a.v < b.v;
}
inline bool is_before(const Vec2d& a, const Vec2d& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; }
inline int plain_circle_sign(const LatticePoint& a, const LatticePoint& b, const LatticePoint& c,
                             const LatticePoint& d) {
  return lattice_in_circle(a, b, c, d);
}
inline int plain_circle_sign(const Vec2d& a, const Vec2d& b, const Vec2d& c, const Vec2d& d) {
  return in_circle(a, b, c, d);
}

/// Positive if d lies inside the circle through a, b, c (counter-clockwise), negative if outside. Of four points on one
/// circle the last in order counts as a little outside the circle of the others, so the sign depends on these points
/// alone; 0 only if d is one of the others.
/// Source  Edelsbrunner & Muecke 1990, ACM TOG 9, "Simulation of simplicity", applied to the lifted coordinate.
template <class Point>
int circle_sign(const Point& a, const Point& b, const Point& c, const Point& d) {
  if (const int sign = plain_circle_sign(a, b, c, d); sign != 0) return sign;
  if (d == a || d == b || d == c) return 0;
  const Point& last_ab = is_before(a, b) ? b : a;
  const Point& last_cd = is_before(c, d) ? d : c;
  const Point& last = is_before(last_ab, last_cd) ? last_cd : last_ab;
  if (&last == &a) return orient_sign(d, b, c);
  if (&last == &b) return orient_sign(a, d, c);
  return &last == &c ? orient_sign(a, b, d) : -orient_sign(a, b, c);
}

struct DelaunayTriangle {
  std::array<std::uint32_t, 3> corner;  ///< indices of points, counter-clockwise
  std::array<bool, 3> on_hull;          ///< side from corner i to i + 1 has no triangle behind it
};

/// How the points are divided. Each way gives the same triangles.
enum class DelaunayCuts : std::uint8_t {
  kUpright,  ///< by the first coordinate alone
  kBoth,  ///< strips by the first coordinate, divided by the second: short seams; twice as fast for millions of points
};

/// Delaunay triangulation of points in the plane. Every sign is exact, so no input is degenerate. Points on one
/// circle are divided by circle_sign: a triangle depends on the points in and on its circle alone, so a part of the points
/// has the same triangles as the whole wherever their circles lie within the part.
///
/// Point    LatticePoint or Vec2d
/// points   (n) distinct, ordered by the first coordinate, then the second
/// Order    A function of the points alone, for any thread count.
/// Cost     O(n log n) time; 76 bytes per point.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: points out of order or out of range.
/// Source   Guibas & Stolfi 1985, ACM TOG 4, "Primitives for the manipulation of general subdivisions ...": divide and
///          conquer of section 9, on directed edges without their duals. Cuts along both axes: Dwyer 1987, Algorithmica 2,
///          137-151.
template <class Point>
class DivideDelaunay {
 public:
  DivideDelaunay(Span<const Point> points, OpContext& ctx, DelaunayCuts cuts = DelaunayCuts::kUpright);

  /// Number of slots that triangle() can be asked for.
  std::size_t slots() const { return edges_.size(); }
  /// The triangle in a slot; false if the slot has none. Every triangle is in one slot.
  bool triangle(std::size_t slot, DelaunayTriangle& out) const;
  /// Its corners alone, which is faster.
  bool corners(std::size_t slot, std::array<std::uint32_t, 3>& out) const;
  /// Points on the outline of the convex hull, those between its corners included, clockwise from the first point.
  /// Points on one line come twice, there and back.
  BulkVector<std::uint32_t> outline(const OpContext& ctx) const;

 private:
  struct Edge {
    std::uint32_t next, previous;  ///< around the origin, counter-clockwise and clockwise
    std::uint32_t origin;          ///< index of a point; kNone = edge not in use
  };
  /// Unused pairs of edges, linked by `next`.
  struct Pool {
    std::uint32_t head, tail;
  };
  struct Hull {
    std::uint32_t left, right;  ///< counter-clockwise from the first point, clockwise from the last
  };
  struct Part {
    Hull hull;
    Pool pool;
  };
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  void check(OpContext& ctx) const;
  Pool fresh_pool(std::size_t begin, std::size_t end);
  Part triangulate_strip(std::size_t begin, std::size_t end, DelaunayCuts cuts, const OpContext& ctx);
  Hull hull_between(std::uint32_t hull_edge, std::uint32_t first, std::uint32_t last) const;
  Hull triangulate(std::size_t begin, std::size_t end, Pool& pool, const OpContext& ctx);
  Hull smallest(std::size_t begin, std::size_t end, Pool& pool);
  Hull merge(Hull left, Hull right, Pool& pool, const OpContext& ctx);
  std::uint32_t lower_tangent(Hull& left, Hull& right, Pool& pool);
  std::uint32_t left_candidate(std::uint32_t base, Pool& pool);
  std::uint32_t right_candidate(std::uint32_t base, Pool& pool);

  std::uint32_t outer_triangle() const;
  bool sides_of(std::uint32_t edge, std::array<std::uint32_t, 3>& sides) const;
  bool first_side(std::size_t slot, std::array<std::uint32_t, 3>& sides) const;
  std::uint32_t make_edge(std::uint32_t from, std::uint32_t to, Pool& pool);
  std::uint32_t connect(std::uint32_t a, std::uint32_t b, Pool& pool);
  void insert_after(std::uint32_t at, std::uint32_t edge);
  void remove(std::uint32_t edge, Pool& pool);

  std::uint32_t origin(std::uint32_t e) const { return edges_[e].origin; }
  std::uint32_t target(std::uint32_t e) const { return edges_[e ^ 1].origin; }
  const Point& from(std::uint32_t e) const { return points_[origin(e)]; }
  const Point& to(std::uint32_t e) const { return points_[target(e)]; }
  std::uint32_t left_next(std::uint32_t e) const { return edges_[e ^ 1].previous; }
  bool is_left(const Point& p, std::uint32_t e) const { return orient_sign(p, from(e), to(e)) > 0; }
  bool is_right(const Point& p, std::uint32_t e) const { return orient_sign(p, to(e), from(e)) > 0; }

  Span<const Point> points_;
  BulkVector<std::uint32_t> order_;  ///< of the points in the order in which each strip is divided
  BulkVector<Edge> edges_;
  std::uint32_t hull_edge_ = kNone;  ///< counter-clockwise from the first point
  std::uint32_t outer_ = kNone;      ///< lowest side of the outer face, if that has three
};

extern template class DivideDelaunay<LatticePoint>;
extern template class DivideDelaunay<Vec2d>;

}  // namespace pc
