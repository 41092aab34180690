#pragma once
#include <cmath>
#include <cstdint>

#include "support/surfaces.h"

namespace pc::test {

/// A small cloud that surface methods find hard: duplicates, one point, a line, a plane, a lattice, a cluster with far
/// outliers, huge or tiny coordinates, NaN and infinite rows, zero, random or opposite normals.
inline Surface nasty_cloud(std::uint64_t seed) {
  const auto unit = [&](std::uint64_t i) { return random_unit(seed + 1, i); };
  const auto count = static_cast<std::size_t>(unit(0) < 0.1 ? 5 * unit(1) : 3 + 90 * unit(1));
  const auto kind = random_u64(seed + 1, 2) % 9, normal_kind = random_u64(seed + 1, 3) % 5;
  const double scales[] = {1, 1, 1, 1e-9, 1e9, 1e-150, 1e140}, scale = scales[random_u64(seed + 1, 4) % 7];
  const Vec3d offset = random_u64(seed + 1, 5) % 4 == 0 ? Vec3d{5e5, 5e6, 100} : Vec3d{0, 0, 0};
  Surface out;
  for (std::size_t i = 0; i < count; ++i) {
    const double u = unit(10 + 4 * i), v = unit(11 + 4 * i), w = unit(12 + 4 * i);
    const auto whole = [](double t, double steps) { return std::floor(t * steps) / steps; };
    Vec3d p{u, v, w};
    if (kind == 1) p = {0.5, 0.5, 0.5};
    if (kind == 2) p = {u, 2 * u, -u};
    if (kind == 3) p = {u, v, 0};
    if (kind == 4) p = {whole(u, 4), whole(v, 4), whole(w, 3)};
    if (kind == 5) p = random_direction(seed, i);
    if (kind == 6 && i % 10 == 0) p = p * 1e6;
    if (kind == 7 && i % 2 == 1) p = out.points.back();
    if (kind == 8) p = {whole(u, 6), whole(v, 6), 0};
    p = p * scale + offset;
    if (unit(13 + 4 * i) < 0.03) p.y = i % 2 == 0 ? std::nan("") : HUGE_VAL;
    out.points.push_back(p);
    Vec3d n = normal_kind == 0 ? random_direction(seed + 2, i)
              : kind == 5      ? random_direction(seed, i)
                               : Vec3d{0, 0, 1};
    if (normal_kind == 1 && i % 2 == 0) n = n * -1;
    if (normal_kind == 2 && i % 5 == 0) n = {0, 0, 0};
    if (normal_kind == 3) n = n * 1e-200;
    if (normal_kind == 4 && i % 7 == 0) n.x = std::nan("");
    out.normals.push_back(n);
  }
  return out;
}

}  // namespace pc::test
