#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/host_device.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// A rotation, row-major: p -> r * p.
struct Rotation {
  double r[3][3];

  PC_HD Vec3d apply(const Vec3d& p) const {
    return {r[0][0] * p.x + r[0][1] * p.y + r[0][2] * p.z, r[1][0] * p.x + r[1][1] * p.y + r[1][2] * p.z,
            r[2][0] * p.x + r[2][1] * p.y + r[2][2] * p.z};
  }
  PC_HD Vec3d undo(const Vec3d& p) const {
    return {r[0][0] * p.x + r[1][0] * p.y + r[2][0] * p.z, r[0][1] * p.x + r[1][1] * p.y + r[2][1] * p.z,
            r[0][2] * p.x + r[1][2] * p.y + r[2][2] * p.z};
  }
};

/// A Hamilton quaternion (x, y, z, w), from the body to the world.
struct Quaternion {
  double x, y, z, w;

  PC_HD Rotation rotation() const {
    return {{{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
             {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
             {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}}};
  }
};

/// Rotation by roll about +x, then pitch about +y, then yaw about +z: Rz(yaw) Ry(pitch) Rx(roll), the intrinsic sequence
/// Z-Y-X. Radians, right-handed.
PC_HD inline Rotation roll_pitch_yaw(double roll, double pitch, double yaw) {
  const double cr = std::cos(roll), sr = std::sin(roll), cp = std::cos(pitch), sp = std::sin(pitch),
               cy = std::cos(yaw), sy = std::sin(yaw);
  return {{{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr},
           {sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr},
           {-sp, cp * sr, cp * cr}}};
}

/// Position and attitude of the body at a time.
struct Pose {
  double t;         ///< seconds
  Vec3d position;   ///< metres
  Quaternion turn;  ///< unit
};

/// Poses of a moving body, on host and device. Refers to memory of the caller.
struct PoseStreamView {
  Span<const Pose> poses;  ///< at least one; t strictly increasing; quaternions of length 1
  Vec3d lever_arm;         ///< metres, frame of the body: optical centre of the scanner
  Rotation boresight;      ///< from the frame of the scanner to that of the body

  /// The pose at time t: linear position, attitude on the shortest arc at constant speed (SLERP); before the first and
  /// after the last pose, that pose.
  /// Source  Shoemake, Animating rotation with quaternion curves, SIGGRAPH 1985.
  PC_HD Pose at(double t) const {
    if (!(t > poses[0].t)) return {t, poses[0].position, poses[0].turn};
    const Pose& last = poses[poses.size - 1];
    if (t >= last.t) return {t, last.position, last.turn};
    std::size_t low = 0, high = poses.size - 1;  // poses[low].t < t < poses[high].t
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      (poses[middle].t < t ? low : high) = middle;
    }
    const Pose &a = poses[low], &b = poses[high];
    const double part = (t - a.t) / (b.t - a.t);
    return {t, a.position + (b.position - a.position) * part, between(a.turn, b.turn, part)};
  }

  /// Optical centre of the scanner at a pose.
  PC_HD Vec3d origin(const Pose& pose) const { return pose.position + pose.turn.rotation().apply(lever_arm); }

  PC_HD static Quaternion between(const Quaternion& a, Quaternion b, double part) {
    double cosine = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    if (cosine < 0) {
      b = {-b.x, -b.y, -b.z, -b.w};
      cosine = -cosine;
    }
    double wa = 1 - part, wb = part;
    if (cosine < 1 - 1e-10) {  // nearer ones: the chord differs from the arc by less than rounding
      const double angle = std::acos(cosine), sine = std::sin(angle);
      wa = std::sin((1 - part) * angle) / sine;
      wb = std::sin(part * angle) / sine;
    }
    const Quaternion q{wa * a.x + wb * b.x, wa * a.y + wb * b.y, wa * a.z + wb * b.z, wa * a.w + wb * b.w};
    const double size = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return {q.x / size, q.y / size, q.z / size, q.w / size};
  }
};

}  // namespace pc
