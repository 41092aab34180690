#pragma once
#include <utility>
#include <vector>

#include "core/span.h"
#include "spatial/predicates.h"

namespace pc {

/// Corners of a convex polygon, counter-clockwise, without the first one repeated.
using ConvexPolygon = std::vector<Vec2d>;

/// Convex hull of points, exact; fewer than 3 corners if all points lie on a line. Points that are not finite are left
/// out. Cost: O(n log n).
/// Source  Andrew 1979, Information Processing Letters 9: 216.
ConvexPolygon convex_hull(Span<const Vec2d> points);

/// Convex hull of points that arrive one by one, exact. Keeps the corners so far and up to 65,536 points; most points
/// inside cost a test against 8 edges.
class GrowingHull {
 public:
  /// A point that is not finite is left out.
  void add(const Vec2d& point);
  /// The hull of the points so far; fewer than 3 corners if they lie on a line.
  const ConvexPolygon& corners();

 private:
  ConvexPolygon hull_, inner_;  ///< inner_: some corners of hull_
  std::vector<Vec2d> pending_;
};

/// At most `most` (>= 4) of the corners: those furthest in as many directions. A circle loses 2 pi^2 / (3 most^2) of its
/// area.
ConvexPolygon with_fewer_corners(const ConvexPolygon& polygon, std::size_t most);

double area_of(const ConvexPolygon& polygon);

/// The common part of two polygons; empty if they have no common area.
/// Source  Sutherland & Hodgman 1974, CACM 17: 32.
ConvexPolygon intersection_of(const ConvexPolygon& a, const ConvexPolygon& b);

/// True for points inside and on the border.
bool contains(const ConvexPolygon& polygon, const Vec2d& point);

/// Distance from a point to the border, negative outside; the polygon has 3 corners or more.
double depth_of(const ConvexPolygon& polygon, const Vec2d& point);

/// x range of a polygon at a height; empty (first > second) if the line misses it.
std::pair<double, double> span_at(const ConvexPolygon& polygon, double y);

/// Share 0..1 of a circle's circumference that lies inside the polygon.
double arc_inside(const ConvexPolygon& polygon, const Vec2d& center, double radius);

}  // namespace pc
