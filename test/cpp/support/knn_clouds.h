#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "support/spacing_clouds.h"

namespace pc::test {

/// The shared clouds, and those that a tree or a search in single precision may stumble over.
inline std::vector<SpacingCloud> knn_clouds(std::size_t n, std::uint64_t seed) {
  std::vector<SpacingCloud> clouds = spacing_clouds(n, seed);
  const auto make = [&](const char* name, std::size_t count, auto&& point) {
    SpacingCloud cloud{name, {}};
    for (std::size_t i = 0; i < count; ++i) cloud.points.push_back(point(i, random_point(seed, i)));
    clouds.push_back(std::move(cloud));
  };
  const auto at = [](std::size_t i) { return 0.1 * static_cast<double>(i); };
  make("as many as a leaf holds", 32, [](std::size_t, const Vec3d& u) { return u; });
  make("one more", 33, [](std::size_t, const Vec3d& u) { return u; });
  make("half in one place", n, [](std::size_t i, const Vec3d& u) { return i % 2 == 0 ? Vec3d{3, 3, 3} : u; });
  make("two places", n, [](std::size_t i, const Vec3d&) {
    return i % 9 == 0 ? Vec3d{0, 0, 1} : Vec3d{0, 0, 0};
  });
  make("sorted by x", n, [](std::size_t i, const Vec3d& u) {
    return Vec3d{static_cast<double>(i), u.y, u.z};
  });
  make("line along y", n, [&](std::size_t i, const Vec3d&) { return Vec3d{1e6, at(i), 0}; });
  make("line along z", n, [&](std::size_t i, const Vec3d&) { return Vec3d{0, 5, at(i)}; });
  make("one far away", n, [](std::size_t i, const Vec3d& u) { return i == 5 ? Vec3d{1e7, -1e7, 1e7} : u; });
  make("two clusters far apart", n, [](std::size_t i, const Vec3d& u) {
    return u + (i % 2 == 0 ? Vec3d{0, 0, 0} : Vec3d{1e5, 0, 0});
  });
  make("flat and tilted", n, [](std::size_t, const Vec3d& u) { return Vec3d{u.x, u.y, u.x + u.y}; });
  make("millimetres", n, [](std::size_t, const Vec3d& u) {
    return Vec3d{4e5 + std::round(u.x * 20) / 1000, 5e6 + std::round(u.y * 20) / 1000,
                 std::round(u.z * 5) / 1000};
  });
  make("extents of 1e-3 to 1e6", n, [](std::size_t i, const Vec3d& u) {
    return Vec3d{u.x * 1e6, u.y * 1e-3, i % 2 == 0 ? u.z : u.z * 1e3};
  });
  make("needle", n, [](std::size_t, const Vec3d& u) { return Vec3d{u.x * 1e6, u.y * 1e-6, u.z * 1e-6}; });
  return clouds;
}

struct Neighbor {
  double squared;
  std::uint64_t row;
  bool operator==(const Neighbor&) const = default;
};

/// Slow and obvious: the k finite points nearest to p, without row `skip`; of equally near ones the lower rows.
inline std::vector<Neighbor> knn_oracle(const SpacingCloud& cloud, const Vec3d& p, std::uint64_t skip,
                                        std::size_t k, double squared_radius) {
  std::vector<Neighbor> all;
  for (std::size_t j = 0; j < cloud.points.size(); ++j) {
    if (j == skip || !is_finite(cloud.points[j])) continue;
    const double squared = squared_distance(p, cloud.points[j]);
    if (squared <= squared_radius && squared < HUGE_VAL) all.push_back({squared, j});
  }
  std::sort(all.begin(), all.end(), [](const Neighbor& a, const Neighbor& b) {
    return a.squared < b.squared || (a.squared == b.squared && a.row < b.row);
  });
  if (all.size() > k) all.resize(k);
  return all;
}

}  // namespace pc::test
