#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/random.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc::test {

using Corners = std::array<std::uint32_t, 3>;

/// Triangles from the lowest corner on, in order: two triangulations are equal if these are.
inline std::set<Corners> triangle_set(Span<const std::uint32_t> indices) {
  std::set<Corners> out;
  for (std::size_t i = 0; i + 2 < indices.size; i += 3) {
    Corners c{indices[i], indices[i + 1], indices[i + 2]};
    std::rotate(c.begin(), std::min_element(c.begin(), c.end()), c.end());
    out.insert(c);
  }
  return out;
}

/// Number of triangles at each directed edge.
inline std::map<std::pair<std::uint32_t, std::uint32_t>, int> edge_uses(Span<const std::uint32_t> indices) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> out;
  for (std::size_t i = 0; i + 2 < indices.size; i += 3)
    for (std::size_t k = 0; k < 3; ++k) ++out[{indices[i + k], indices[i + (k + 1) % 3]}];
  return out;
}

/// A random direction.
inline Vec3d direction(std::uint64_t seed, std::uint64_t i) {
  const double z = 2 * random_unit(seed, 2 * i) - 1, turn = 6.283185307179586 * random_unit(seed, 2 * i + 1);
  const double r = std::sqrt(1 - z * z);
  return {r * std::cos(turn), r * std::sin(turn), z};
}

inline Vec3d unit(const Vec3d& v) { return v * (1 / std::sqrt(dot(v, v))); }

/// Height of direction d above the plane of a triangle of directions that is counter-clockwise seen from the scanner: not
/// above 0 for any direction if its circle is empty.
inline double above(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  return dot(unit(cross(c - a, b - a)), d - a);
}

}  // namespace pc::test
