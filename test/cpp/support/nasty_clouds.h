#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/random.h"
#include "core/vec3.h"

namespace pc::nasty_clouds {

/// Small clouds that break inexact geometry, a function of the seed: repeated, collinear, coplanar and cospherical
/// points, lattices, slivers, huge and tiny scales, huge offsets, 0 to `most` points.
inline std::vector<Vec3d> cloud(std::uint64_t seed, std::size_t most) {
  std::uint64_t counter = 0;
  const auto whole = [&](std::uint64_t end) { return random_u64(seed, counter++) % end; };
  const auto real = [&] { return random_unit(seed, counter++) * 2 - 1; };
  const std::size_t count = whole(4) == 0 ? whole(6) : whole(most + 1);
  const std::uint64_t kind = whole(10), levels = 1 + whole(5);
  const double scales[] = {1, 1e-3, 1e6, 1e-40, 1e25, 0.1};
  const double scale = scales[whole(6)];
  const double offsets[] = {0, 0, 1e7, 4.5e6};
  const double offset = scale <= 1e6 ? offsets[whole(4)] : 0;
  const Vec3d along{real(), real(), real()}, across{real(), real(), real()};
  std::vector<Vec3d> points;
  for (std::size_t i = 0; i < count; ++i) {
    const auto level = [&] { return static_cast<double>(whole(levels + 1)); };
    Vec3d p{real(), real(), real()};
    if (kind == 1) p = {level(), level(), level()};
    if (kind == 2) p = {level(), real(), 0};
    if (kind == 3) p = along * real();
    if (kind == 4) p = along * real() + across * real();  // coplanar up to rounding
    if (kind == 5) p = p * (1 / std::sqrt(squared_distance(p, {0, 0, 0})));
    if (kind == 6) {  // exactly on the sphere of radius 25 around the origin
      const double exact[][3] = {{0, 0, 25}, {0, 15, 20}, {0, 7, 24}, {9, 12, 20}, {12, 15, 16}, {15, 20, 0}};
      const auto& e = exact[whole(6)];
      const std::size_t turn = whole(3);
      p = {whole(2) == 0 ? e[turn] : -e[turn], whole(2) == 0 ? e[(turn + 1) % 3] : -e[(turn + 1) % 3],
           whole(2) == 0 ? e[(turn + 2) % 3] : -e[(turn + 2) % 3]};
    }
    if (kind == 7) p = {p.x, p.y * 1e-9, std::ldexp(p.z, -static_cast<int>(whole(60)))};
    if (kind == 8) p = whole(2) == 0 ? Vec3d{level(), 0, 0} : Vec3d{0, level(), 1};
    if (kind == 9) p = {std::cos(level()), std::sin(level()), level()};
    p = p * scale + Vec3d{offset, -2 * offset, offset / 8};
    points.push_back(!points.empty() && whole(12) == 0 ? points[whole(points.size())] : p);
  }
  return points;
}

}  // namespace pc::nasty_clouds
