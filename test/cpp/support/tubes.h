#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "core/qsm.h"

namespace pc::test {

/// A cylinder whose surface a scan saw.
struct Tube {
  Vec3d from, to;
  double radius;
};

/// The axis of a tube and two directions across.
struct TubeFrame {
  Vec3d edge, u, v;
  double length;

  explicit TubeFrame(const Tube& tube)
      : edge(tube.to - tube.from), u{}, v{}, length(std::sqrt(dot(edge, edge))) {
    const Vec3d w = edge * (1 / length);
    u = cross(w, std::fabs(w.x) < 0.5 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0});
    u = u * (1 / std::sqrt(dot(u, u)));
    v = cross(w, u);
  }
  Vec3d across(double angle) const { return u * std::cos(angle) + v * std::sin(angle); }
};

/// Random points of its surface, with noise across it in metres.
inline void add_tube(std::vector<Vec3d>& out, const Tube& tube, std::size_t count, double noise_m,
                     std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit;
  std::normal_distribution<double> normal;
  const TubeFrame frame(tube);
  for (std::size_t i = 0; i < count; ++i) {
    const double angle = 2 * std::numbers::pi * unit(random), r = tube.radius + noise_m * normal(random);
    const double along = unit(random);
    out.push_back(tube.from + frame.edge * along + frame.across(angle) * r);
  }
}

/// Of all tubes, also where they lie in each other.
inline double volume_of(const std::vector<Tube>& tubes) {
  double sum = 0;
  for (const Tube& t : tubes)
    sum += std::numbers::pi * t.radius * t.radius * std::sqrt(squared_distance(t.from, t.to));
  return sum;
}

inline double volume_of(const Qsm& qsm) {
  double sum = 0;
  for (const QsmCylinder& c : qsm.cylinders) sum += std::numbers::pi * c.radius * c.radius * c.length_m();
  return sum;
}

}  // namespace pc::test
