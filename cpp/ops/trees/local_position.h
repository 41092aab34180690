#pragma once
#include <cmath>

#include "core/vec3.h"

namespace pc {

/// A position relative to `origin`, to 2^-16 m: an offset of the cloud by 5e6 m changes the last bits of a float64,
/// which would decide between equally distant neighbours, and on which side of a face of a voxel a point lies.
inline Vec3d local_position(const Vec3d& point, const Vec3d& origin) {
  const auto quantized = [](double value) { return std::round(value * 65536.0) / 65536.0; };
  return {quantized(point.x - origin.x), quantized(point.y - origin.y), quantized(point.z - origin.z)};
}

}  // namespace pc
