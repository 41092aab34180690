#pragma once
#include <algorithm>

#include "core/qsm.h"

namespace pc {

/// The point of a cylinder's axis, ends included, that is nearest to a place.
inline Vec3d nearest_on_axis(const QsmCylinder& c, const Vec3d& p) {
  const Vec3d edge = c.end - c.start;
  const double squared = dot(edge, edge);
  return c.start + edge * (squared > 0 ? std::clamp(dot(p - c.start, edge) / squared, 0.0, 1.0) : 0);
}

}  // namespace pc
