#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/vec3.h"

/// Samples of surfaces whose normals and distances are known in closed form.
namespace pc::test {

struct Surface {
  std::vector<Vec3d> points, normals;  ///< normals of the noise-free points, outward or up
};

/// Gaussian: Box & Muller 1958.
inline double random_normal(std::uint64_t seed, std::uint64_t counter) {
  const double u = 1 - random_unit(seed, 2 * counter), v = random_unit(seed, 2 * counter + 1);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
}

inline Vec3d random_direction(std::uint64_t seed, std::uint64_t counter) {
  const Vec3d d{random_normal(seed, 3 * counter), random_normal(seed, 3 * counter + 1),
                random_normal(seed, 3 * counter + 2)};
  return d * (1 / std::sqrt(d.x * d.x + d.y * d.y + d.z * d.z));
}

inline void add_noise(Surface& surface, double sigma) {
  if (sigma == 0) return;
  for (std::size_t i = 0; i < surface.points.size(); ++i)
    surface.points[i] =
        surface.points[i] +
        Vec3d{random_normal(90, 3 * i), random_normal(90, 3 * i + 1), random_normal(90, 3 * i + 2)} * sigma;
}

inline Surface sphere(std::size_t count, double radius, const Vec3d& center, double sigma = 0) {
  Surface out;
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3d n = random_direction(91, i);
    out.normals.push_back(n);
    out.points.push_back(center + n * radius);
  }
  add_noise(out, sigma);
  return out;
}

/// Around the z axis: circles of radius `small` on a circle of radius `large`.
inline Surface torus(std::size_t count, double large, double small, const Vec3d& center, double sigma = 0) {
  Surface out;
  for (std::uint64_t draw = 0; out.points.size() < count; ++draw) {
    const double t = 2 * M_PI * random_unit(92, 3 * draw), p = 2 * M_PI * random_unit(92, 3 * draw + 1);
    if (random_unit(92, 3 * draw + 2) * (large + small) >= large + small * std::cos(t)) continue;
    const Vec3d n{std::cos(t) * std::cos(p), std::cos(t) * std::sin(p), std::sin(t)};
    out.normals.push_back(n);
    out.points.push_back(center + Vec3d{large * std::cos(p), large * std::sin(p), 0} + n * small);
  }
  add_noise(out, sigma);
  return out;
}

inline double torus_distance(const Vec3d& p, double large, double small) {
  return std::abs(std::hypot(std::hypot(p.x, p.y) - large, p.z) - small);
}

/// z = height sin(3 x) cos(3 y) over the square [-1, 1]^2.
inline Surface wave(std::size_t count, double height, double sigma = 0) {
  Surface out;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = 2 * random_unit(93, 2 * i) - 1, y = 2 * random_unit(93, 2 * i + 1) - 1;
    out.points.push_back({x, y, height * std::sin(3 * x) * std::cos(3 * y)});
    const Vec3d n{-3 * height * std::cos(3 * x) * std::cos(3 * y),
                  3 * height * std::sin(3 * x) * std::sin(3 * y), 1};
    out.normals.push_back(n * (1 / std::sqrt(n.x * n.x + n.y * n.y + 1)));
  }
  add_noise(out, sigma);
  return out;
}

/// Counts of a triangle mesh.
struct Topology {
  std::size_t boundary = 0;     ///< edges of one triangle
  std::size_t nonmanifold = 0;  ///< of more than two
  std::size_t conflicts = 0;    ///< directed edges that occur twice
  std::size_t components = 0;
  std::int64_t euler = 0;  ///< V - E + F of the vertices in use
};

inline Topology topology_of(std::size_t vertex_count, const std::uint32_t* indices, std::size_t index_count) {
  Topology out;
  std::vector<std::uint64_t> edges;
  std::vector<std::uint32_t> parent(vertex_count);
  std::vector<bool> used(vertex_count, false);
  for (std::size_t i = 0; i < vertex_count; ++i) parent[i] = static_cast<std::uint32_t>(i);
  const auto root = [&](std::uint32_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (std::size_t i = 0; i < index_count; ++i) {
    const std::uint32_t a = indices[i], b = indices[i - i % 3 + (i + 1) % 3];
    used[a] = true;
    parent[root(a)] = root(b);
    edges.push_back(std::uint64_t{a} << 32 | b);
  }
  std::sort(edges.begin(), edges.end());
  out.conflicts = edges.size();
  std::vector<std::uint64_t> both;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (i == 0 || edges[i] != edges[i - 1]) --out.conflicts;
    const std::uint64_t a = edges[i] >> 32, b = edges[i] & 0xffffffffU;
    both.push_back(std::min(a, b) << 32 | std::max(a, b));
  }
  std::sort(both.begin(), both.end());
  std::size_t edge_count = 0, vertices = 0;
  for (std::size_t i = 0; i < both.size();) {
    std::size_t end = i;
    while (end < both.size() && both[end] == both[i]) ++end;
    out.boundary += end - i == 1 ? 1 : 0;
    out.nonmanifold += end - i > 2 ? 1 : 0;
    ++edge_count;
    i = end;
  }
  for (std::size_t v = 0; v < vertex_count; ++v) {
    if (!used[v]) continue;
    ++vertices;
    out.components += root(static_cast<std::uint32_t>(v)) == v ? 1 : 0;
  }
  out.euler = static_cast<std::int64_t>(vertices) - static_cast<std::int64_t>(edge_count) +
              static_cast<std::int64_t>(index_count / 3);
  return out;
}

}  // namespace pc::test
