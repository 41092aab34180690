#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "core/vec3.h"

namespace pc::bench {

/// A tree of forks: the stem is 8 m long and 0.2 m thick, each fork's branches are .72 as long and .7 as thick.
struct Pipe {
  Vec3d from, to;
  double radius;
};

inline std::vector<Pipe> pipes() {
  std::vector<Pipe> out{{{0, 0, 0}, {0, 0, 8}, 0.2}};
  const auto grow = [&](std::size_t parent, const Vec3d& side) {
    const Pipe stem = out[parent];
    const Vec3d way = (stem.to - stem.from) * 0.72;
    const double length = std::sqrt(dot(way, way));
    const Vec3d turned = way * 0.8 + side * (0.6 * length);
    const Vec3d inside = way * (1.5 * stem.radius / length);  // so that its bark meets the bark it grows from
    out.push_back({stem.to - inside, stem.to + turned, 0.7 * stem.radius});
  };
  for (std::size_t at = 0; out.size() < 255; ++at) {
    const double turn = 2.4 * static_cast<double>(at);
    const Vec3d side{std::cos(turn), std::sin(turn), 0};
    grow(at, side);
    grow(at, side * -1);
  }
  return out;
}

/// Points on its bark with 3 mm of noise, a few more than `count`.
inline std::vector<Vec3d> scanned(std::size_t count, std::uint64_t seed = 1) {
  const std::vector<Pipe> tree = pipes();
  double area = 0;
  for (const Pipe& p : tree) area += p.radius * std::sqrt(squared_distance(p.from, p.to));
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit;
  std::normal_distribution<double> noise(0, 0.003);
  std::vector<Vec3d> points;
  points.reserve(count + tree.size());
  for (const Pipe& p : tree) {
    const Vec3d way = p.to - p.from;
    const double length = std::sqrt(dot(way, way));
    const Vec3d along = way * (1 / length);
    const Vec3d u = cross(along, std::fabs(along.z) < 0.9 ? Vec3d{0, 0, 1} : Vec3d{1, 0, 0});
    const Vec3d first = u * (1 / std::sqrt(dot(u, u))), second = cross(along, first);
    const auto own =
        static_cast<std::size_t>(std::ceil(static_cast<double>(count) * p.radius * length / area));
    for (std::size_t i = 0; i < own; ++i) {
      const double turn = 6.283185307179586 * unit(random), r = p.radius + noise(random);
      points.push_back(p.from + way * unit(random) + first * (r * std::cos(turn)) +
                       second * (r * std::sin(turn)));
    }
  }
  return points;
}

}  // namespace pc::bench
