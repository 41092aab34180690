#pragma once
#include <vector>

#include "core/vec3.h"
#include "ops/fit/crown_solid.h"

/// Smallest upright solids around a few points, which are scaled so that the solid is neither thin nor far away. Each is a
/// convex problem of at most six unknowns with one optimum.
namespace pc {

/// Axes along which all points have the same coordinate.
struct FlatAxes {
  bool x, y, z;
};

/// Ellipsoid of least volume with axes along x, y and z around the points.
///
/// points   in the cube [-1, 1]^3, whose faces they touch; 0 along a flat axis, whose semi-axis becomes 1
/// Order    The volume is within 1e-9 of the smallest; a point may lie outside by as much.
/// Cost     About 100 passes over the points; for up to a few hundred of them.
/// Source   Minimum-volume enclosing ellipsoid (Boyd & Vandenberghe 2004, section 8.4.1), restricted to diagonal matrices.
CrownSolid smallest_ellipsoid(const std::vector<Vec3d>& points, const FlatAxes& flat);

/// Cone of least volume with its apex above its horizontal base around the points; axis, apex, radius are free.
///
/// points   x and y in [-1, 1], z in [0, 1] with both ends touched; with a flat axis in x and y the base radius becomes 1
/// Order    As of smallest_ellipsoid. The base is the plane z = 0: a lower one makes every cone larger.
/// Source   With u = 1 / radius, d = u centre and k = 1 / height a point is inside if |u p - d| + k z <= 1, and
///          log(volume) = -2 log u - log k + const: convex in (u, d, k), a second-order cone program with logarithms.
CrownSolid smallest_cone(const std::vector<Vec3d>& points, const FlatAxes& flat);

}  // namespace pc
