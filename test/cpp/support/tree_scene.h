#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "core/hit_points.h"
#include "core/vec3.h"

namespace pc::test {

/// Points on level ground at z = 0, with the tree that each belongs to.
struct Scene {
  std::vector<Vec3d> xyz;
  std::vector<float> height;
  std::vector<std::uint32_t> truth;
  std::mt19937_64 random{5};

  void add(const Vec3d& p, std::uint32_t tree) {
    xyz.push_back(p);
    height.push_back(static_cast<float>(p.z));
    truth.push_back(tree);
  }
  /// Points around a line from a to b, at the distance of its radius.
  void tube(const Vec3d& a, const Vec3d& b, double radius, double step, std::uint32_t tree) {
    std::uniform_real_distribution<double> turn(0, 2 * std::numbers::pi);
    const double length = std::sqrt(squared_distance(a, b));
    const int around = std::max(1, static_cast<int>(2 * std::numbers::pi * radius / step));
    for (double s = 0; s <= length; s += step) {
      for (int i = 0; i < around; ++i) {
        const double t = turn(random);
        add(a + (b - a) * (s / length) + Vec3d{radius * std::cos(t), radius * std::sin(t), 0}, tree);
      }
    }
  }
  void stem(double x, double y, double radius, double top, std::uint32_t tree) {
    tube({x, y, 0.05}, {x, y, top}, radius, 0.03, tree);
  }
  /// Leaves in a ball.
  void leaves(const Vec3d& middle, double radius, int count, std::uint32_t tree) {
    std::uniform_real_distribution<double> u(-1, 1);
    while (count > 0) {
      const Vec3d d{u(random), u(random), u(random)};
      if (dot(d, d) > 1) continue;
      add(middle + d * radius, tree);
      --count;
    }
  }
  HitPoints points() const { return HitPoints::assume_hits({xyz.data(), xyz.size()}); }
};

}  // namespace pc::test
