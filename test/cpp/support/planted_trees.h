#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "core/vec3.h"

namespace pc::test {

/// A cone with its apex at the top, standing on the ground.
struct Cone {
  double x, y, height, radius;
};

struct Planted {
  std::vector<Vec3d> plants, ground;
  std::vector<std::uint32_t> cone;  ///< of each plant point, from 1
};

/// Points on the surfaces of cones on a plane through the origin that rises by `slope` along x, over [0, side]^2.
inline Planted planted(const std::vector<Cone>& cones, double side, double slope, std::size_t per_cone,
                       std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  Planted out;
  for (std::uint32_t c = 0; c < cones.size(); ++c) {
    const Cone& cone = cones[c];
    for (std::size_t i = 0; i < per_cone; ++i) {
      const double r = cone.radius * std::sqrt(unit(random)), angle = 6.283185307179586 * unit(random);
      const double x = cone.x + r * std::cos(angle), y = cone.y + r * std::sin(angle);
      out.plants.push_back({x, y, slope * x + cone.height * (1 - 0.6 * r / cone.radius)});
      out.cone.push_back(c + 1);
    }
    out.plants.push_back({cone.x, cone.y, slope * cone.x + cone.height});
    out.cone.push_back(c + 1);
  }
  for (double x = 0.1; x < side; x += 0.5)
    for (double y = 0.1; y < side; y += 0.5) out.ground.push_back({x, y, slope * x});
  return out;
}

/// Cones of 2.5 to 4 m width on a jittered lattice: crowns do not touch.
inline std::vector<Cone> separate_cones(std::size_t across, std::uint64_t seed, double apart = 4.2) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Cone> out;
  for (std::size_t i = 0; i < across; ++i)
    for (std::size_t j = 0; j < across; ++j)
      out.push_back({apart * static_cast<double>(i) + 3 + 0.2 * unit(random),
                     apart * static_cast<double>(j) + 3 + 0.2 * unit(random), 5 + 10 * unit(random),
                     1.25 + 0.6 * unit(random)});
  return out;
}

}  // namespace pc::test
