#pragma once
#include <cstdint>

#include "core/host_device.h"
#include "core/vec3.h"
#include "spatial/bvh_view.h"

namespace pc::bvh {

/// Smaller components of a direction, as parts of the largest, count as 0.
constexpr double kNegligible = 1e-30;

/// A ray whose test of triangles is watertight: a ray through a shared edge or vertex hits at least one of the triangles
/// there. The triangle is sheared so that the ray becomes the z axis; the signs of three edge functions then tell whether
/// the origin lies inside. Neighbours compute the function of their shared edge from the same products, so that the signs
/// are exact opposites. A ray in the plane of a triangle misses it.
///
/// Source  Woop, Benthin & Wald, Watertight ray/triangle intersection, JCGT 2(1), 2013; here in double precision from the
///         start, without the fallback for edge functions that are 0: such a ray hits both triangles.
struct ShearedRay {
  Vec3d origin, direction;
  int x, y, z;  ///< axes; z is that of the direction's largest component
  double shear_x, shear_y, shear_z;

  PC_HD ShearedRay(const Vec3d& from, const Vec3d& along) : origin(from), direction(along) {
    const auto size = [](double value) { return value < 0 ? -value : value; };
    const double sx = size(along.x), sy = size(along.y), sz = size(along.z);
    z = sx >= sy && sx >= sz ? 0 : (sy >= sz ? 1 : 2);
    x = z == 2 ? 0 : z + 1;
    y = x == 2 ? 0 : x + 1;
    const double least = component(along, z) * kNegligible, negligible = size(least);
    if (sx < negligible) direction.x = 0;
    if (sy < negligible) direction.y = 0;
    if (sz < negligible) direction.z = 0;
    shear_z = 1 / component(direction, z);
    shear_x = component(direction, x) * shear_z;
    shear_y = component(direction, y) * shear_z;
  }

  PC_HD static double component(const Vec3d& v, int axis) {
    return axis == 0 ? v.x : (axis == 1 ? v.y : v.z);
  }

  /// Improves `best` by a hit with t_min <= t <= best.t; equal t goes to the lower index. `t_min` is not below the place
  /// where the ray enters the triangle's box: a triangle seen edge-on has edge functions of rounding errors alone, which
  /// could put a hit outside of it.
  PC_HD void meet(const Triangle& triangle, double t_min, RayHit& best) const {
    const Vec3d a = triangle.a - origin, b = triangle.b - origin, c = triangle.c - origin;
    const double az = component(a, z), bz = component(b, z), cz = component(c, z);
    const double ax = component(a, x) - shear_x * az, ay = component(a, y) - shear_y * az;
    const double bx = component(b, x) - shear_x * bz, by = component(b, y) - shear_y * bz;
    const double cx = component(c, x) - shear_x * cz, cy = component(c, y) - shear_y * cz;
    const double u = cx * by - cy * bx, v = ax * cy - ay * cx, w = bx * ay - by * ax;
    if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return;
    const double sum = u + v + w;
    if (sum == 0) return;
    const double t = (u * az + v * bz + w * cz) * shear_z / sum;
    if (!(t >= t_min && t <= best.t)) return;
    if (t == best.t && triangle.index >= best.triangle) return;
    best = {t, v / sum, w / sum, triangle.index};
  }
};

}  // namespace pc::bvh
