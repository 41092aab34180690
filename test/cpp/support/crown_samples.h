#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/random.h"
#include "core/vec3.h"
#include "ops/fit/crown_solid.h"

namespace pc::test {

/// Seeded points in and on solids, and branches out of them.
class CrownSamples {
 public:
  explicit CrownSamples(std::uint64_t seed) : seed_(seed) {}

  double unit() { return random_unit(seed_, counter_++); }
  double within(double low, double high) { return low + (high - low) * unit(); }
  Vec3d in_box(const Vec3d& half) {
    return {half.x * within(-1, 1), half.y * within(-1, 1), half.z * within(-1, 1)};
  }

  /// Points that fill the solid evenly.
  std::vector<Vec3d> filled(const CrownSolid& solid, std::size_t count) {
    std::vector<Vec3d> points;
    while (points.size() < count) {
      const Vec3d p = solid.center + in_box(solid.half);
      if (inside(solid, p)) points.push_back(p);
    }
    return points;
  }

  /// Points on the surface: those of filled, moved out along rays from the centre of mass.
  std::vector<Vec3d> surface(const CrownSolid& solid, std::size_t count) {
    std::vector<Vec3d> points = filled(solid, count);
    Vec3d middle = solid.center;
    if (solid.shape == CrownShape::kCone) middle.z -= 0.5 * solid.half.z;
    for (Vec3d& p : points) {
      double low = 0, high = 1e6;
      for (int i = 0; i < 100; ++i) {
        const double scale = (low + high) / 2;
        (inside(solid, middle + (p - middle) * scale) ? low : high) = scale;
      }
      p = middle + (p - middle) * low;
    }
    return points;
  }

  /// Adds points along straight branches from inside the solid to 1.3 .. 2 half-widths from its axis.
  void add_branches(std::vector<Vec3d>& points, const CrownSolid& solid, std::size_t branches,
                    std::size_t each) {
    for (std::size_t branch = 0; branch < branches; ++branch) {
      const double angle = within(0, 2 * std::numbers::pi), z = within(-0.7, 0.4), reach = within(1.3, 2);
      double from = 1;
      while (from > 0 && !inside(solid, along(solid, angle, from, z))) from -= 0.01;
      for (std::size_t i = 0; i < each; ++i) {
        const double out = from + unit() * (reach - from);
        points.push_back(along(solid, angle, out, z) + in_box({0.01, 0.01, 0.01}));
      }
    }
  }

  /// By the definition of each solid, not by crown_gauge.
  static bool inside(const CrownSolid& solid, const Vec3d& p) {
    const Vec3d d = p - solid.center;
    const double x = d.x / solid.half.x, y = d.y / solid.half.y, z = d.z / solid.half.z;
    if (std::abs(z) > 1) return false;
    if (solid.shape == CrownShape::kPrism) return std::abs(x) <= 1 && std::abs(y) <= 1;
    const double radius = solid.shape == CrownShape::kCone ? (1 - z) / 2 : std::sqrt(1 - z * z);
    return std::hypot(x, y) <= radius;
  }

 private:
  static Vec3d along(const CrownSolid& solid, double angle, double out, double z) {
    return solid.center + Vec3d{solid.half.x * out * std::cos(angle), solid.half.y * out * std::sin(angle),
                                solid.half.z * z};
  }
  std::uint64_t seed_, counter_ = 0;
};

}  // namespace pc::test
