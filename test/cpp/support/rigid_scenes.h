#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/random.h"
#include "core/vec3.h"
#include "ops/registration/rigid_transform.h"

/// Clouds and motions for tests of registrations.
namespace pc::test {

using Points = std::vector<Vec3d>;

inline RigidTransform turned(const Vec3d& turn, const Vec3d& shift) {
  RigidTransform motion = rotation(turn);
  motion.translation = shift;
  return motion;
}

inline Points moved(const RigidTransform& motion, const Points& points) {
  Points out;
  for (const Vec3d& p : points) out.push_back(motion(p));
  return out;
}

/// Largest distance between where two motions put the points.
inline double apart(const RigidTransform& a, const RigidTransform& b, const Points& points) {
  double most = 0;
  for (const Vec3d& p : points) most = std::max(most, squared_distance(a(p), b(p)));
  return std::sqrt(most);
}

/// Random places of a hilly surface over a square of `side` metres.
inline Points rough_ground(std::uint64_t count, double side, std::uint64_t seed) {
  Points out;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double x = side * random_unit(seed, 2 * i), y = side * random_unit(seed, 2 * i + 1);
    const double u = 6.0 * x / side, v = 6.0 * y / side;
    out.push_back(
        {x, y, side * 0.05 * (std::sin(u * 1.7) + std::cos(v * 1.3) + 0.6 * std::sin(2 * u + 3 * v))});
  }
  return out;
}

/// Random places of the three planes x = 0, y = 0, z = 0 of a box's corner of `side` metres.
inline Points corner_of_planes(std::uint64_t count, double side, std::uint64_t seed) {
  Points out;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double a = side * random_unit(seed, 2 * i), b = side * random_unit(seed, 2 * i + 1);
    out.push_back(i % 3 == 0 ? Vec3d{0, a, b} : i % 3 == 1 ? Vec3d{a, 0, b} : Vec3d{a, b, 0});
  }
  return out;
}

/// Random places of boxes of many sizes that stand, turned, on level ground of `side` metres; alike from no other side.
/// `scene` chooses the boxes, `seed` the places.
inline Points boxes_on_ground(std::uint64_t count, double side, std::uint64_t scene, std::uint64_t seed) {
  Points out;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto unit = [&](std::uint64_t k) { return random_unit(seed, 8 * i + k); };
    if (i % 2 == 0) {
      out.push_back({side * unit(0), side * unit(1), 0});
      continue;
    }
    const auto box = static_cast<std::uint64_t>(24 * unit(2));
    const auto of = [&](std::uint64_t k) { return random_unit(scene, 8 * box + k); };
    const Vec3d size{side * (0.02 + 0.08 * of(0)), side * (0.02 + 0.08 * of(1)),
                     side * (0.02 + 0.15 * of(2))};
    const auto face = static_cast<int>(5 * unit(3));
    Vec3d p{size.x * (unit(4) - 0.5), size.y * (unit(5) - 0.5), size.z * unit(6)};
    if (face < 2) p.x = size.x * (face - 0.5);
    if (face == 2 || face == 3) p.y = size.y * (face - 2.5);
    if (face == 4) p.z = size.z;
    const double turn = 6.28 * of(3), c = std::cos(turn), s = std::sin(turn);
    out.push_back({side * of(4) + c * p.x - s * p.y, side * of(5) + s * p.x + c * p.y, p.z});
  }
  return out;
}

/// Mean squared distance of moved points to the nearest fixed ones, each cut off at `reach`, by brute force.
inline double misfit(const RigidTransform& pose, const Points& moving, const Points& fixed, double reach) {
  double sum = 0;
  for (const Vec3d& m : moving) {
    const Vec3d p = pose(m);
    double best = reach * reach;
    for (const Vec3d& f : fixed) best = std::min(best, squared_distance(p, f));
    sum += best;
  }
  return sum / static_cast<double>(moving.size());
}

}  // namespace pc::test
