#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/vec3.h"

namespace pc {

/// A part of a ray, by the distances along it; empty if first > last.
struct RayPart {
  double first, last;
};

/// The parts of rays inside a box that is rotated about the vertical axis through its centre, counter-clockwise seen from
/// above.
class BoxClip {
 public:
  BoxClip(const Vec3d& center, const Vec3d& size, double rotation_rad)
      : center_(center), size_(size), cos_(std::cos(rotation_rad)), sin_(std::sin(rotation_rad)) {}

  /// Of a ray from `nearest` to `reach`, metres.
  RayPart part(const Vec3d& origin, const Vec3d& direction, double nearest, double reach) const {
    const Vec3d from = turned(origin - center_), along = turned(direction);
    RayPart part{nearest, reach};
    const double o[3] = {from.x, from.y, from.z}, d[3] = {along.x, along.y, along.z},
                 half[3] = {size_.x / 2, size_.y / 2, size_.z / 2};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (d[axis] == 0) {
        if (std::abs(o[axis]) > half[axis]) return {1, 0};
        continue;
      }
      const double a = (-half[axis] - o[axis]) / d[axis], b = (half[axis] - o[axis]) / d[axis];
      part.first = std::max(part.first, std::min(a, b));
      part.last = std::min(part.last, std::max(a, b));
    }
    return part;
  }

 private:
  Vec3d turned(const Vec3d& p) const { return {cos_ * p.x + sin_ * p.y, cos_ * p.y - sin_ * p.x, p.z}; }

  Vec3d center_, size_;
  double cos_, sin_;
};

}  // namespace pc
