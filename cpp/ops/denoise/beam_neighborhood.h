#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "ops/denoise/beam_origins.h"
#include "spatial/kd_tree.h"

namespace pc::beams {

/// Beams closer than this, in steps, are one. The encoder of a scanner is far finer than its step.
constexpr double kOneBeam = 0.1;
/// Origins this far apart, in ranges, are of one scan.
constexpr double kSameScan = 0.1;
/// Leaves that a search visits at most: dense surroundings of an unusual cloud are not judged.
constexpr std::uint32_t kMostLeaves = 512;

/// The points that may lie on one surface with the point of a beam.
struct Window {
  Vec3d p, ray;
  double squared_near, squared_far;  ///< squared distance across the beam, between these
  double squared_slope;

  bool holds(const Vec3d& q) const {
    const Vec3d off = q - p;
    const double along = dot(off, ray), squared = along * along;
    const double across = dot(off, off) - squared;
    return (across <= squared_far) & (across > squared_near) & (squared <= squared_slope * across);
  }
  bool holds_any(const kd_tree::Leaf& leaf) const {
    constexpr std::uint32_t kTogether = 8;  // without a branch
    std::uint32_t j = 0;
    for (; j + kTogether <= leaf.count; j += kTogether) {
      std::uint32_t found = 0;
      for (std::uint32_t i = 0; i < kTogether; ++i) found += holds(leaf.point(j + i)) ? 1 : 0;
      if (found > 0) return true;
    }
    for (; j < leaf.count; ++j)
      if (holds(leaf.point(j))) return true;
    return false;
  }
  /// Of the farthest points.
  double squared_radius() const { return squared_far * (1 + squared_slope); }
};

/// The beam that ended at a point.
struct Beam {
  Vec3d p, origin, ray;
  double range, step;

  Beam(const Vec3d& point, const Vec3d& from, double step_rad)
      : p(point), origin(from), ray(point - from), range(std::sqrt(dot(ray, ray))), step(step_rad) {
    ray = ray * (1 / range);
  }
  /// False without a finite origin apart from the point.
  bool is_known() const { return std::isfinite(range) && range > 0; }
  bool same_scan(const Vec3d& other) const {
    return squared_distance(origin, other) <= kSameScan * kSameScan * range * range;
  }
  Window window(double steps, double slope) const {
    const double far = steps * step * range, near = kOneBeam * step * range;
    return {p, ray, near * near, far * far, slope * slope};
  }
};

/// Number of points in a window, at most `enough`; `enough` where too many leaves are near.
inline std::uint32_t count_in(const Window& window, const KdTreeView& tree, std::uint32_t enough) {
  const double squared = window.squared_radius();
  std::uint32_t found = 0, visited = 0;
  const auto may_hold = [&](const kd_tree::Node& node, std::uint32_t) {
    return kd_tree::least_squared_distance(window.p, node) <= squared;
  };
  tree.for_each_leaf(may_hold, [&](const kd_tree::Node& node) {
    const kd_tree::Leaf leaf = tree.leaf(node);
    for (std::uint32_t j = 0; j < leaf.count && found < enough; ++j)
      found += window.holds(leaf.point(j)) ? 1 : 0;
    if (++visited == kMostLeaves) found = enough;
    return found < enough;
  });
  return found;
}

/// A point seen beside a beam.
struct Beside {
  Vec3d p;
  std::uint64_t row;
  double x, y;   ///< across the beam, steps
  double angle;  ///< steps
  double slope;  ///< difference of the ranges over the distance across; of points on one beam over kOneBeam
};

/// The directions within an angle of a beam, at most one radian.
struct Cone {
  Vec3d origin, ray, reciprocal, across_x, across_y;
  double tangent;

  Cone(const Beam& beam, double steps);
  bool holds(const Vec3d& q) const {
    const Vec3d to = q - origin;
    const double along = dot(to, ray), most = tangent * along;
    return along > 0 && dot(to, to) - along * along <= most * most;
  }
  /// False only if no point of the box is in the cone: the ray misses the box grown by the width of the cone behind it.
  bool may_meet(const kd_tree::Node& node) const {
    const Vec3d low = node.min - origin, high = node.max - origin;
    const double last = std::max(low.x * ray.x, high.x * ray.x) + std::max(low.y * ray.y, high.y * ray.y) +
                        std::max(low.z * ray.z, high.z * ray.z);
    const double wide = tangent * last * (1 + 1e-9);
    if (!(wide >= 0)) return false;
    double enter = 0, leave = HUGE_VAL;
    const auto slab = [&](double from, double to, double per) {
      const double a = (from - wide) * per, b = (to + wide) * per;
      enter = std::max(enter, std::min(a, b));
      leave = std::min(leave, std::max(a, b));
    };
    slab(low.x, high.x, reciprocal.x);
    slab(low.y, high.y, reciprocal.y);
    slab(low.z, high.z, reciprocal.z);
    return enter <= leave;
  }
};

/// The points of the same scan within an angle of a beam at any range, ordered by angle.
class Neighborhood {
 public:
  Neighborhood(const Beam& beam, std::uint64_t own_row, double steps, const KdTreeView& tree,
               const BeamOrigins& origins);

  /// False if there are more points than a raster has there.
  bool is_complete() const { return complete_; }
  Span<const Beside> points() const { return {points_.data() + first_, count_ - first_}; }
  /// Another point of the same beam at another range.
  bool has_echo(double slope) const;

 private:
  void take(const Beam& beam, const Cone& cone, const Vec3d& q, std::uint64_t row);

  static constexpr std::size_t kMost = 128;
  std::array<Beside, kMost> points_;
  std::size_t count_ = 0, first_ = 0;  ///< first_: points before are on the same beam
  bool complete_ = true;
};

}  // namespace pc::beams
