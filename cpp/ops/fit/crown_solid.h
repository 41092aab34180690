#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/vec3.h"

namespace pc {

enum class CrownShape : std::uint8_t { kEllipsoid, kPrism, kCone };

/// An upright solid, given by its axis-aligned box: the ellipsoid and the prism that fill the box, or the cone with its
/// apex in the middle of the box's top and its base in the box's bottom.
struct CrownSolid {
  CrownShape shape;
  Vec3d center;  ///< of the box, metres
  Vec3d half;    ///< half-extents of the box, metres, > 0; the same along x and y for a cone
};

/// Height of the centre of mass above the base of a cone, as a share of its height.
constexpr double kConeCentroid = 0.25;

/// How far out a point is: 1 on the surface, below 1 inside; the solid that is scaled by s about its centre of mass
/// passes through the points whose value is s.
inline double crown_gauge(const CrownSolid& solid, const Vec3d& p) {
  const Vec3d d = p - solid.center;
  const double x = d.x / solid.half.x, y = d.y / solid.half.y, z = d.z / solid.half.z;
  switch (solid.shape) {
    case CrownShape::kEllipsoid:
      return std::sqrt(x * x + y * y + z * z);
    case CrownShape::kPrism:
      return std::max({std::abs(x), std::abs(y), std::abs(z)});
    case CrownShape::kCone:
      break;
  }
  const double above = (z + 1) / 2 - kConeCentroid;  // of the centre of mass, in heights
  return std::max((std::sqrt(x * x + y * y) + above) / (1 - kConeCentroid), -above / kConeCentroid);
}

/// Scaled about the centre of mass.
inline CrownSolid scaled(CrownSolid solid, double scale) {
  if (solid.shape == CrownShape::kCone)
    solid.center.z += (1 - 2 * kConeCentroid) * (scale - 1) * solid.half.z;
  solid.half = solid.half * scale;
  return solid;
}

/// Cubic metres.
double crown_volume(const CrownSolid& solid);

/// Square metres, the base of a cone included. Ellipsoid: 4 pi R_G(a^2 b^2, a^2 c^2, b^2 c^2), DLMF 19.33.1, with the
/// symmetric elliptic integral R_G by Carlson's duplication (Carlson 1995, Numerical Algorithms 10).
double crown_surface_area(const CrownSolid& solid);

}  // namespace pc
