#pragma once
#include <cstdint>

#include "core/host_device.h"
#include "core/vec3.h"

namespace pc {

/// Where the closest point of a triangle lies.
enum class TriangleFeature : std::uint8_t { kFace, kEdgeAb, kEdgeBc, kEdgeCa, kVertexA, kVertexB, kVertexC };

struct TrianglePoint {
  double squared;    ///< squared distance, square metres
  Vec3d from_point;  ///< from the closest point of the triangle to the query
  TriangleFeature feature;
};

namespace triangle_distance {

/// A triangle whose height over its longest edge is below this share of the edge counts as its edges: the plane of such
/// a needle is unknown in double precision, and no inner point is farther than that from an edge.
constexpr double kNeedle = 1e-10;
/// Above this share the cross product of two edges is a normal that is precise all over the triangle.
constexpr double kWellShaped = 1e-3;

/// The part of `to_p` (from `start`) beyond the closest point of the segment; `along` is 0..1.
struct SegmentPoint {
  double squared, along;
  Vec3d from_point;
};

PC_HD inline SegmentPoint on_segment(const Vec3d& edge, const Vec3d& to_p) {
  const double length = dot(edge, edge), projected = dot(edge, to_p);
  const double along = !(projected > 0) || !(length > 0) ? 0 : (projected >= length ? 1 : projected / length);
  const Vec3d rest = to_p - edge * along;
  return {dot(rest, rest), along, rest};
}

PC_HD inline TriangleFeature segment_feature(double along, TriangleFeature start, TriangleFeature edge,
                                             TriangleFeature end) {
  return along <= 0 ? start : (along >= 1 ? end : edge);
}

PC_HD inline void take(TrianglePoint& best, const SegmentPoint& found, TriangleFeature start,
                       TriangleFeature edge, TriangleFeature end) {
  if (found.squared < best.squared)
    best = {found.squared, found.from_point, segment_feature(found.along, start, edge, end)};
}

}  // namespace triangle_distance

/// Closest point of the triangle (a, b, c) to p. Exact up to the rounding of the longest edge and of p, also for needles;
/// a triangle without area counts as the segment or point that it is.
///
/// Source  The closest point is the projection if it lies inside; otherwise it lies on an edge that p is outside of (the
///         normal cone of a convex set). In a needle the distance to the plane is measured from the closest point of its
///         edges, which is never farther than the needle is wide, so that the error of its normal does not matter.
PC_HD inline TrianglePoint closest_on_triangle(const Vec3d& a, const Vec3d& b, const Vec3d& c,
                                               const Vec3d& p) {
  namespace td = triangle_distance;
  using F = TriangleFeature;
  const Vec3d ab = b - a, bc = c - b, ca = a - c, ap = p - a, bp = p - b, cp = p - c;
  const Vec3d normal = cross(ab, bc);
  const double area = dot(normal, normal), lab = dot(ab, ab), lbc = dot(bc, bc), lca = dot(ca, ca);
  const double longest = lab > lbc ? (lab > lca ? lab : lca) : (lbc > lca ? lbc : lca);
  const double side_ab = dot(cross(normal, ab), ap), side_bc = dot(cross(normal, bc), bp),
               side_ca = dot(cross(normal, ca), cp);
  const bool inside = side_ab >= 0 && side_bc >= 0 && side_ca >= 0;
  const double square = longest * longest;
  const bool well_shaped = area > square * (td::kWellShaped * td::kWellShaped);
  if (inside && well_shaped) {
    const double height = dot(normal, ap);
    return {height * height / area, normal * (height / area), F::kFace};
  }
  TrianglePoint best{HUGE_VAL, {0, 0, 0}, F::kVertexA};
  const bool all = !well_shaped;
  if (all || side_ab < 0) td::take(best, td::on_segment(ab, ap), F::kVertexA, F::kEdgeAb, F::kVertexB);
  if (all || side_bc < 0) td::take(best, td::on_segment(bc, bp), F::kVertexB, F::kEdgeBc, F::kVertexC);
  if (all || side_ca < 0) td::take(best, td::on_segment(ca, cp), F::kVertexC, F::kEdgeCa, F::kVertexA);
  if (!inside || !(area > square * (td::kNeedle * td::kNeedle))) return best;
  const double height = dot(normal, best.from_point);
  const double squared = height * height / area;
  if (squared < best.squared) best = {squared, normal * (height / area), F::kFace};
  return best;
}

}  // namespace pc
