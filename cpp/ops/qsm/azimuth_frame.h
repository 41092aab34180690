#pragma once
#include <cmath>

#include "core/vec3.h"

namespace pc {

/// Two unit axes perpendicular to a direction, from which azimuths about it are measured: 0 along u, 90 degrees along v.
struct AzimuthFrame {
  Vec3d u, v;
};

/// Frame about the unit vector `axis`: u is the part of "up" across the axis, of x where the axis is within 0.99 of
/// vertical; v = axis x u. Source: contract skeleton-qsm 6.
inline AzimuthFrame azimuth_frame(const Vec3d& axis) {
  constexpr double kNearlyVertical = 0.99;
  const Vec3d up = std::abs(axis.z) > kNearlyVertical ? Vec3d{1, 0, 0} : Vec3d{0, 0, 1};
  const Vec3d across = up - axis * dot(up, axis);
  const Vec3d u = across * (1 / std::sqrt(dot(across, across)));
  return {u, cross(axis, u)};
}

}  // namespace pc
