#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "core/qsm.h"
#include "ops/qsm/azimuth_frame.h"

namespace pc::test {

/// How branches are planted on a straight shoot.
struct PlantedPattern {
  double angle_deg;  ///< step of azimuth per node
  int per_node = 1;  ///< branches of a node, evenly spread
  int nodes = 12;
  double scatter_deg = 0;  ///< of each branch, normal
  double broken = 1;       ///< share of buds that grew
  bool left = false;       ///< turns the other way
  std::uint64_t seed = 1;
};

/// A model of shoots with branches at 50 degrees, one cylinder of the shoot per node; axes are spread over the sphere.
inline Qsm planted_model(const PlantedPattern& pattern, int shoot_count) {
  std::mt19937_64 random(pattern.seed);
  std::normal_distribution<double> error(0, pattern.scatter_deg);
  std::uniform_real_distribution<double> unit(0, 1);
  Qsm qsm;
  std::int64_t next_cylinder = 0, next_shoot = 0;
  for (int s = 0; s < shoot_count; ++s) {
    const double slope = std::acos(1 - 1.6 * unit(random)), bearing = 2 * std::numbers::pi * unit(random);
    const Vec3d axis{std::sin(slope) * std::cos(bearing), std::sin(slope) * std::sin(bearing),
                     std::cos(slope)};
    const AzimuthFrame frame = azimuth_frame(axis);
    const double first = 360 * unit(random);
    const Vec3d base{10.0 * s, 0, 0};
    const std::size_t parent = qsm.shoots.size();
    const std::int64_t parent_id = next_shoot++;
    qsm.shoots.push_back({parent_id, 0, {}, kNoQsmParent, kNoQsmParent, {}});
    for (int node = 0; node < pattern.nodes; ++node) {
      const Vec3d start = base + axis * (0.05 * node), end = base + axis * (0.05 * (node + 1));
      const std::int64_t carrier = next_cylinder++;
      qsm.cylinders.push_back({carrier, start, end, 0.005,
                               node == 0 ? kNoQsmParent : qsm.shoots[parent].cylinder_ids.back(), parent_id,
                               0});
      qsm.shoots[parent].cylinder_ids.push_back(carrier);
      for (int k = 0; k < pattern.per_node; ++k) {
        const double turn = node * pattern.angle_deg * (pattern.left ? -1 : 1) + 360.0 * k / pattern.per_node;
        const double azimuth = (first + turn + error(random)) * std::numbers::pi / 180;
        if (unit(random) > pattern.broken) continue;
        const double pitch = 50 * std::numbers::pi / 180;
        const Vec3d direction =
            (frame.u * std::cos(azimuth) + frame.v * std::sin(azimuth)) * std::sin(pitch) +
            axis * std::cos(pitch);
        const std::int64_t child = next_shoot++, cylinder = next_cylinder++;
        qsm.cylinders.push_back({cylinder, end, end + direction * 0.2, 0.002, carrier, child, 1});
        qsm.shoots.push_back({child, 1, {cylinder}, parent_id, carrier, {}});
        qsm.shoots[parent].child_shoot_ids.push_back(child);
      }
    }
  }
  return qsm;
}

}  // namespace pc::test
