#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// A point with integer coordinates, 0 <= u, v < 2^22.
struct LatticePoint {
  std::int32_t u, v;

  friend bool operator==(const LatticePoint& a, const LatticePoint& b) { return a.u == b.u && a.v == b.v; }
};

/// Twice the signed area of the triangle a b c; positive = counter-clockwise. Exact.
inline std::int64_t lattice_orient(const LatticePoint& a, const LatticePoint& b, const LatticePoint& c) {
  return static_cast<std::int64_t>(b.u - a.u) * (c.v - a.v) -
         static_cast<std::int64_t>(b.v - a.v) * (c.u - a.u);
}

/// Positive if d lies inside the circle through a, b, c (counter-clockwise), negative if outside, 0 if on it. Exact.
int lattice_in_circle(const LatticePoint& a, const LatticePoint& b, const LatticePoint& c,
                      const LatticePoint& d);

struct LatticeTriangle {
  std::array<std::uint32_t, 3> corner;  ///< indices of points, counter-clockwise
  std::array<bool, 3> on_hull;          ///< side from corner i to i + 1 has no triangle behind it
};

/// Delaunay triangulation of points with integer coordinates. Every test is exact integer arithmetic, so no input is
/// degenerate. For points on one circle any of the valid triangulations may result, the same in every run.
///
/// points   (n) distinct, ordered by u, then v
/// Order    A function of the points alone, for any thread count.
/// Cost     O(n log n) time; 72 bytes per point.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: points out of order or out of range.
/// Source   Guibas & Stolfi 1985, ACM TOG 4, "Primitives for the manipulation of general subdivisions ...": divide and
///          conquer of section 9, on directed edges without their duals.
class LatticeDelaunay {
 public:
  LatticeDelaunay(Span<const LatticePoint> points, OpContext& ctx);

  /// Number of slots that triangle() can be asked for.
  std::size_t slots() const { return edges_.size(); }
  /// The triangle in a slot; false if the slot has none. Every triangle is in one slot.
  bool triangle(std::size_t slot, LatticeTriangle& out) const;

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
  Hull triangulate(std::size_t begin, std::size_t end, Pool& pool, const OpContext& ctx);
  Hull smallest(std::size_t begin, std::size_t end, Pool& pool);
  Hull merge(Hull left, Hull right, Pool& pool, const OpContext& ctx);
  std::uint32_t lower_tangent(Hull& left, Hull& right, Pool& pool);
  std::uint32_t left_candidate(std::uint32_t base, Pool& pool);
  std::uint32_t right_candidate(std::uint32_t base, Pool& pool);

  std::uint32_t make_edge(std::uint32_t from, std::uint32_t to, Pool& pool);
  std::uint32_t connect(std::uint32_t a, std::uint32_t b, Pool& pool);
  void insert_after(std::uint32_t at, std::uint32_t edge);
  void remove(std::uint32_t edge, Pool& pool);

  std::uint32_t origin(std::uint32_t e) const { return edges_[e].origin; }
  std::uint32_t target(std::uint32_t e) const { return edges_[e ^ 1].origin; }
  const LatticePoint& from(std::uint32_t e) const { return points_[origin(e)]; }
  const LatticePoint& to(std::uint32_t e) const { return points_[target(e)]; }
  std::uint32_t left_next(std::uint32_t e) const { return edges_[e ^ 1].previous; }
  bool is_left(const LatticePoint& p, std::uint32_t e) const { return lattice_orient(p, from(e), to(e)) > 0; }
  bool is_right(const LatticePoint& p, std::uint32_t e) const {
    return lattice_orient(p, to(e), from(e)) > 0;
  }

  Span<const LatticePoint> points_;
  BulkVector<Edge> edges_;
};

}  // namespace pc
