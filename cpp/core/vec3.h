#pragma once
#include <cmath>
#include <cstdint>

#include "core/host_device.h"

namespace pc {

/// A point or vector; in metres unless stated otherwise.
struct Vec3d {
  double x, y, z;

  PC_HD friend bool operator==(const Vec3d& a, const Vec3d& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  }
  PC_HD friend Vec3d operator+(const Vec3d& a, const Vec3d& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  PC_HD friend Vec3d operator-(const Vec3d& a, const Vec3d& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  PC_HD friend Vec3d operator*(const Vec3d& a, double s) { return {a.x * s, a.y * s, a.z * s}; }
};

/// Colour, 16 bits per channel (0..65535).
struct Rgb16 {
  std::uint16_t r, g, b;
  PC_HD friend bool operator==(const Rgb16& a, const Rgb16& b) {
    return a.r == b.r && a.g == b.g && a.b == b.b;
  }
};

PC_HD inline double dot(const Vec3d& a, const Vec3d& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
/// Swapped arguments give exactly the opposite.
PC_HD inline Vec3d cross(const Vec3d& a, const Vec3d& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

PC_HD inline double squared_distance(const Vec3d& a, const Vec3d& b) {
  const double dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
  return dx * dx + dy * dy + dz * dz;
}

/// x - x is 0 for finite x and NaN otherwise; std::isfinite is not a device function with every compiler.
PC_HD inline bool is_finite(const Vec3d& p) { return p.x - p.x == 0 && p.y - p.y == 0 && p.z - p.z == 0; }

/// Axis-aligned box. Empty (min > max) until a point is added.
struct Box3d {
  Vec3d min{HUGE_VAL, HUGE_VAL, HUGE_VAL};
  Vec3d max{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};

  bool empty() const { return !(min.x <= max.x); }
  void add(const Vec3d& p) {
    if (p.x < min.x) min.x = p.x;
    if (p.y < min.y) min.y = p.y;
    if (p.z < min.z) min.z = p.z;
    if (p.x > max.x) max.x = p.x;
    if (p.y > max.y) max.y = p.y;
    if (p.z > max.z) max.z = p.z;
  }
  void add(const Box3d& o) {
    if (o.empty()) return;
    add(o.min);
    add(o.max);
  }
};

}  // namespace pc
