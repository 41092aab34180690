#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/mesh/pivot_grid.h"

namespace pc {

/// The growing mesh of ops/mesh/ball_pivoting.h: triangles, their edges, and the edges from which the ball still rolls.
/// Every edge gets at most two triangles, which run along it in opposite directions.
///
/// points   (n) finite and different from each other
/// normals  (n) unit vectors
/// sides_are_known  a point whose normal faces away from the centre of a ball does not stop it: it belongs to another
///                  surface, seen from elsewhere
class PivotFront {
 public:
  PivotFront(Span<const Vec3d> points, Span<const Vec3d> normals, bool sides_are_known, OpContext& ctx);

  /// Rolls a ball of this radius: on from the edges that smaller balls left open, then from new seeds.
  void roll(double radius);
  /// Corners, counter-clockwise seen from the side of the normals.
  const BulkVector<std::uint32_t>& triangles() const { return triangles_; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  struct Edge {
    std::uint32_t from, to;  ///< along its first triangle
    std::uint32_t opposite;  ///< that triangle's third corner
    std::uint32_t next;      ///< next edge in the list of the lower of both vertices
    bool open;               ///< has one triangle
    Vec3d center;            ///< of the ball on that triangle
  };
  struct Near {
    double squared;
    std::uint32_t row;
  };

  bool center_of(std::uint32_t a, std::uint32_t b, std::uint32_t c, Vec3d& center) const;
  bool stops(const Vec3d& center, std::uint32_t row) const {
    return !sides_are_known_ || dot(normals_[row], center - points_[row]) > 0;
  }
  bool is_empty(const Vec3d& center, std::uint32_t a, std::uint32_t b, std::uint32_t c);
  std::uint32_t edge_between(std::uint32_t a, std::uint32_t b) const;
  bool may_add(std::uint32_t from, std::uint32_t to) const;
  void add_edge(std::uint32_t from, std::uint32_t to, std::uint32_t opposite, const Vec3d& center);
  void add_triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c, const Vec3d& center);
  void expand();
  bool pivot(const Edge& edge, std::uint32_t& row, Vec3d& center);
  bool seed_at(std::uint32_t row);
  void count_work(std::size_t tests);

  Span<const Vec3d> points_, normals_;
  bool sides_are_known_;
  OpContext& ctx_;
  const PivotGrid* grid_ = nullptr;
  double radius_ = 0;
  BulkVector<Edge> edges_;
  BulkVector<std::uint32_t> first_edge_;  ///< (n) list of the edges to higher vertices
  BulkVector<std::uint32_t> open_count_;  ///< (n) open edges at a vertex
  BulkVector<std::uint8_t> is_used_;      ///< (n) in a triangle
  BulkVector<std::uint32_t> front_;       ///< edges to roll over, first in first out
  BulkVector<std::uint32_t> triangles_;
  std::uint32_t blocker_ = kNone;  ///< the point that was last found in a ball: often in the next one too
  std::size_t work_ = 0;
};

}  // namespace pc
