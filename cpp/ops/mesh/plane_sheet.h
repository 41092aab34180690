#pragma once
#include <optional>

#include "ops/mesh/alpha_shape.h"

namespace pc {

/// Alpha shape of points on a plane: the triangles of their Delaunay triangulation in the plane whose circles are no
/// larger than alpha, upwards. No triangles for points on a line or at one place.
///
/// points    (n) exactly on one plane
/// alpha_m   none = automatic_alpha
/// Order, Cost, Cancel   as delaunay.
AlphaShapeResult plane_sheet(Span<const Vec3d> points, const std::optional<double>& alpha_m, OpContext& ctx);

/// Sign of the side of triangle a b c that is turned away from a place: 1 if the corners are counter-clockwise seen from
/// there outwards; in its plane 1 if the triangle is turned upwards, else to +y, else to +x.
int facing(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& place);

}  // namespace pc
