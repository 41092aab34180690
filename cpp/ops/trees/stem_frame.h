#pragma once
#include <array>
#include <cmath>

#include "core/vec3.h"

namespace pc {

/// Two unit vectors across a unit axis and each other: the first nearly along x, unless the axis is.
inline std::array<Vec3d, 2> stem_frame(const Vec3d& axis) {
  const Vec3d level = std::abs(axis.x) < 0.9 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  Vec3d u = level - axis * dot(level, axis);
  u = u * (1 / std::sqrt(dot(u, u)));
  return {u, cross(axis, u)};
}

}  // namespace pc
