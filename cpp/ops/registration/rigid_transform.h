#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "core/vec3.h"
#include "spatial/triangle_distance.h"

namespace pc {

/// A proper rigid motion: x -> R x + t. Metres.
struct RigidTransform {
  std::array<Vec3d, 3> rows{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};  ///< of R
  Vec3d translation{0, 0, 0};

  Vec3d rotate(const Vec3d& v) const { return {dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)}; }
  Vec3d operator()(const Vec3d& p) const { return rotate(p) + translation; }
};

/// first, then second.
inline RigidTransform composed(const RigidTransform& second, const RigidTransform& first) {
  RigidTransform both;
  const auto& f = first.rows;
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3d& s = second.rows[i];
    both.rows[i] = f[0] * s.x + f[1] * s.y + f[2] * s.z;
  }
  both.translation = second(first.translation);
  return both;
}

inline RigidTransform inverse(const RigidTransform& motion) {
  const auto& [x, y, z] = motion.rows;
  RigidTransform out;
  out.rows = {{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
  out.translation = out.rotate(motion.translation) * -1;
  return out;
}

/// Rotation about the axis `turn` by |turn| radians (Rodrigues 1840).
inline RigidTransform rotation(const Vec3d& turn) {
  const double angle = std::sqrt(dot(turn, turn));
  if (!(angle > 0)) return {};
  const Vec3d u = turn * (1 / angle);
  const double c = std::cos(angle), s = std::sin(angle), k = 1 - c;
  RigidTransform out;
  out.rows = {{{c + k * u.x * u.x, k * u.x * u.y - s * u.z, k * u.x * u.z + s * u.y},
               {k * u.y * u.x + s * u.z, c + k * u.y * u.y, k * u.y * u.z - s * u.x},
               {k * u.z * u.x - s * u.y, k * u.z * u.y + s * u.x, c + k * u.z * u.z}}};
  return out;
}

/// Squared Frobenius distance of the rotations of two motions.
inline double squared_rotation_distance(const RigidTransform& a, const RigidTransform& b) {
  double squared = 0;
  for (std::size_t i = 0; i < 3; ++i) squared += squared_distance(a.rows[i], b.rows[i]);
  return squared;
}

/// Angle from one rotation to another, radians: |R - S|^2 = 8 sin^2(angle / 2), exact for small angles, where the trace is not.
inline double turn_between(const RigidTransform& a, const RigidTransform& b) {
  return 2 * std::asin(std::min(1.0, std::sqrt(squared_rotation_distance(a, b) / 8)));
}

/// The same motion with rows that are unit vectors at right angles to the last bits (Gram-Schmidt).
inline RigidTransform orthonormal(const RigidTransform& motion) {
  RigidTransform out = motion;
  auto& [x, y, z] = out.rows;
  x = x * (1 / std::sqrt(dot(x, x)));
  y = y - x * dot(x, y);
  y = y * (1 / std::sqrt(dot(y, y)));
  z = cross(x, y);
  return out;
}

}  // namespace pc
