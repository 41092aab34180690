#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "core/qsm.h"
#include "core/vec3.h"

namespace pc {

/// A tree that bends in the wind, scanned from all sides, one scan after the other.
struct SwayingTree {
  std::vector<Vec3d> points, still;    ///< as scanned, and where the tree stands without wind
  std::vector<double> scan;            ///< 0 .. scans - 1
  std::vector<QsmCylinder> cylinders;  ///< of the still tree
  double volume_m3 = 0;

  /// sway_m   of the top of the stem, 8 m high, in scan after scan to another side; branches lag behind
  /// scans    at equal angles; each sees the sides that face it
  SwayingTree(double sway_m, int scans, double noise_m = 0.002, std::uint64_t seed = 3) : random_(seed) {
    std::int64_t below = kNoQsmParent;
    for (int i = 0; i < 16; ++i) {
      const double radius = 0.12 - 0.006 * i;
      below = add({0, 0, 0.5 * i}, {0, 0, 0.5 * (i + 1)}, radius, below, 0);
      if (i < 4) continue;
      const double turn = 2.4 * i, reach = 1.6 - 0.05 * i;
      std::int64_t on = below;
      for (int k = 0; k < 3; ++k) {
        const auto at = [&](double t) {
          return Vec3d{std::cos(turn) * reach * t, std::sin(turn) * reach * t, 0.5 * (i + 1) + 0.5 * t};
        };
        on = add(at(k / 3.0), at((k + 1) / 3.0), 0.03 - 0.006 * k, on, i);
      }
    }
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> unit;
    for (const QsmCylinder& c : cylinders) {
      const Vec3d edge = c.end - c.start, w = edge * (1 / c.length_m());
      Vec3d u = cross(w, std::fabs(w.x) < 0.5 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0});
      u = u * (1 / std::sqrt(dot(u, u)));
      const Vec3d v = cross(w, u);
      const auto count =
          static_cast<int>(2 * std::numbers::pi * c.radius * c.length_m() / (0.012 * 0.012)) + 30;
      for (int i = 0; i < count; ++i) {
        const double angle = 2 * std::numbers::pi * unit(random_), r = c.radius + noise_m * normal(random_);
        const Vec3d out = u * std::cos(angle) + v * std::sin(angle);
        const Vec3d place = c.start + edge * unit(random_) + out * r;
        for (int s = 0; s < scans; ++s) {
          const double from = 2 * std::numbers::pi * s / scans;
          if (out.x * std::cos(from) + out.y * std::sin(from) < 0.1) continue;
          still.push_back(place);
          points.push_back(place + shift(place, s, sway_m));
          scan.push_back(s);
        }
      }
      volume_m3 += std::numbers::pi * c.radius * c.radius * c.length_m();
    }
  }

  static Vec3d shift(const Vec3d& p, int scan, double sway_m) {
    const double up = std::max(0.0, p.z / 8), out = std::hypot(p.x, p.y), turn = 1.9 * scan;
    const double bend = sway_m * up * up, lag = 0.4 * sway_m * out * std::min(1.0, up);
    return {bend * std::cos(turn), bend * std::sin(turn), lag * std::sin(2.3 * scan + 1)};
  }

 private:
  std::int64_t add(const Vec3d& from, const Vec3d& to, double radius, std::int64_t parent,
                   std::int64_t shoot) {
    const auto id = static_cast<std::int64_t>(cylinders.size());
    cylinders.push_back({id, from, to, radius, parent, shoot, shoot == 0 ? 0 : 1});
    return id;
  }
  std::mt19937_64 random_;
};

}  // namespace pc
