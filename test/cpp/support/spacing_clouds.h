#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc::test {

struct SpacingCloud {
  std::string name;
  std::vector<Vec3d> points;
  Span<const Vec3d> view() const { return {points.data(), points.size()}; }
};

inline Vec3d random_point(std::uint64_t seed, std::uint64_t i) {
  return {random_unit(seed, 3 * i), random_unit(seed, 3 * i + 1), random_unit(seed, 3 * i + 2)};
}

/// Clouds that break grids: nothing, one point, duplicates, planes, lattices, far outliers, many scales, non-finite rows.
inline std::vector<SpacingCloud> spacing_clouds(std::size_t n, std::uint64_t seed) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(),
                   kInf = std::numeric_limits<double>::infinity();
  std::vector<SpacingCloud> clouds{{"empty", {}}, {"one", {{1, 2, 3}}}, {"two", {{1, 2, 3}, {1, 2, 3.5}}}};
  const auto make = [&](const char* name, auto&& point) {
    SpacingCloud cloud{name, {}};
    for (std::size_t i = 0; i < n; ++i) cloud.points.push_back(point(i, random_point(seed, i)));
    clouds.push_back(std::move(cloud));
  };
  make("cube", [](std::size_t, const Vec3d& u) { return u * 10.0; });
  make("duplicates", [](std::size_t, const Vec3d&) { return Vec3d{1, 2, 3}; });
  make("pairs", [&](std::size_t i, const Vec3d&) { return random_point(seed, i / 2); });
  make("crowd", [](std::size_t i, const Vec3d& u) { return i % 10 == 0 ? u : Vec3d{1, 2, 3}; });
  make("coplanar utm", [](std::size_t, const Vec3d& u) {
    return Vec3d{5e5 + 100 * u.x, 4.5e6 + 100 * u.y, 7};
  });
  make("line", [](std::size_t i, const Vec3d&) { return Vec3d{0.1 * static_cast<double>(i), 0, 0}; });
  make("lattice", [](std::size_t i, const Vec3d&) {
    return Vec3d{static_cast<double>(i % 20) * 4, static_cast<double>(i / 20 % 20) * 4,
                 static_cast<double>(i / 400) * 4};
  });
  make("outliers", [](std::size_t i, const Vec3d& u) { return i % 100 == 7 ? u * 1e7 : u; });
  make("cluster and sparse", [](std::size_t i, const Vec3d& u) { return u * (i % 2 == 0 ? 1e-4 : 100.0); });
  make("many scales",
       [](std::size_t i, const Vec3d& u) { return u * std::pow(2.0, -static_cast<double>(i % 300)); });
  make("huge", [](std::size_t, const Vec3d& u) { return u * 1e200; });
  make("tiny", [](std::size_t, const Vec3d& u) { return u * 1e-160; });
  make("offset 1e7", [](std::size_t, const Vec3d& u) { return u * 1e-7 + Vec3d{1e7, -1e7, 1e7}; });
  make("some not finite", [=](std::size_t i, const Vec3d& u) {
    return i % 3 == 0 ? Vec3d{kNaN, u.y, u.z} : i % 7 == 0 ? Vec3d{u.x, kInf, u.z} : u;
  });
  make("almost all not finite", [=](std::size_t i, const Vec3d& u) {
    return i % 500 == 3 ? u : Vec3d{u.x, u.y, -kInf};
  });
  make("none finite", [=](std::size_t, const Vec3d&) { return Vec3d{kNaN, kNaN, kNaN}; });
  return clouds;
}

}  // namespace pc::test
