#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/vec3.h"
#include "spatial/bvh.h"

/// Meshes that trees over triangles find hard.
namespace pc::test {

struct Mesh {
  std::string name;
  std::vector<Vec3d> vertices;
  std::vector<std::uint32_t> indices;

  TriangleMesh view() const { return {{vertices.data(), vertices.size()}, {indices.data(), indices.size()}}; }
  void add(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
    const auto first = static_cast<std::uint32_t>(vertices.size());
    vertices.insert(vertices.end(), {a, b, c});
    indices.insert(indices.end(), {first, first + 1, first + 2});
  }
};

/// Uniform numbers of one sequence.
class MeshDraw {
 public:
  explicit MeshDraw(std::uint64_t seed) : seed_(seed) {}
  double unit() { return random_unit(seed_, counter_++); }
  Vec3d in_cube(double side) { return {side * (unit() - 0.5), side * (unit() - 0.5), side * (unit() - 0.5)}; }

 private:
  std::uint64_t seed_, counter_ = 0;
};

/// `count` triangles of any shape, about `size` wide, in a cube.
inline Mesh soup(std::size_t count, double side, double size, std::uint64_t seed) {
  Mesh mesh{"soup", {}, {}};
  MeshDraw draw(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3d at = draw.in_cube(side);
    mesh.add(at + draw.in_cube(size), at + draw.in_cube(size), at + draw.in_cube(size));
  }
  return mesh;
}

/// A sphere of `rings` rings, closed, wound counter-clockwise seen from outside.
inline Mesh sphere(std::uint32_t rings, const Vec3d& center, double radius) {
  Mesh mesh{"sphere", {}, {}};
  const std::uint32_t sides = 2 * rings;
  mesh.vertices.push_back(center + Vec3d{0, 0, radius});
  for (std::uint32_t i = 1; i < rings; ++i) {
    for (std::uint32_t j = 0; j < sides; ++j) {
      const double theta = M_PI * i / rings, phi = 2 * M_PI * j / sides;
      mesh.vertices.push_back(
          center +
          Vec3d{std::sin(theta) * std::cos(phi), std::sin(theta) * std::sin(phi), std::cos(theta)} * radius);
    }
  }
  mesh.vertices.push_back(center + Vec3d{0, 0, -radius});
  const auto at = [&](std::uint32_t ring, std::uint32_t side) {
    return 1 + (ring - 1) * sides + side % sides;
  };
  const auto last = static_cast<std::uint32_t>(mesh.vertices.size() - 1);
  for (std::uint32_t j = 0; j < sides; ++j) {
    mesh.indices.insert(mesh.indices.end(), {0, at(1, j), at(1, j + 1)});
    mesh.indices.insert(mesh.indices.end(), {last, at(rings - 1, j + 1), at(rings - 1, j)});
    for (std::uint32_t i = 1; i + 1 < rings; ++i) {
      mesh.indices.insert(mesh.indices.end(), {at(i, j), at(i + 1, j), at(i + 1, j + 1)});
      mesh.indices.insert(mesh.indices.end(), {at(i, j), at(i + 1, j + 1), at(i, j + 1)});
    }
  }
  return mesh;
}

/// Every shape at a size that brute force can check; `offset` moves all of it.
inline std::vector<Mesh> hard_meshes(const Vec3d& offset) {
  std::vector<Mesh> meshes{soup(900, 10, 1, 1), sphere(12, {1, 2, 3}, 2)};
  Mesh identical{"identical", {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {}};
  for (int i = 0; i < 300; ++i) identical.indices.insert(identical.indices.end(), {0, 1, 2});
  meshes.push_back(identical);
  Mesh turned{"one place, different triangles", {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}, {}};
  for (std::uint32_t i = 0; i < 300; ++i)
    turned.indices.insert(turned.indices.end(), {i % 3, (i + 1) % 3, i % 2 == 0 ? (i + 2) % 3 : 3});
  meshes.push_back(turned);
  Mesh line{"line", {}, {}};
  for (int i = 0; i < 500; ++i) line.add({i * 1.0, 0, 0}, {i + 1.0, 0, 0}, {i + 0.5, 0.3, 0});
  meshes.push_back(line);
  Mesh degenerate{"without area", {}, {}};
  for (int i = 0; i < 60; ++i) {
    degenerate.add({i * 1.0, 1, 1}, {i * 1.0, 1, 1}, {i * 1.0, 1, 1});
    degenerate.add({i * 1.0, 0, 0}, {i + 1.0, 0, 0}, {i + 0.3, 0, 0});
    degenerate.add({i * 1.0, 0, 2}, {i + 1.0, 1, 2}, {i * 1.0, 0, 2});
  }
  meshes.push_back(degenerate);
  Mesh needles{"needles", {}, {}};
  MeshDraw draw(7);
  for (int i = 0; i < 400; ++i) {
    const Vec3d a = draw.in_cube(4), b = a + draw.in_cube(2);
    needles.add(a, b, a + (b - a) * draw.unit() + draw.in_cube(std::pow(10.0, -1 - i % 14)));
  }
  meshes.push_back(needles);
  Mesh huge = soup(600, 1, 0.02, 3);
  huge.name = "one huge";
  huge.add({-1e5, -1e5, 0.1}, {1e5, -1e5, 0.1}, {0, 1e5, 0.1});
  meshes.push_back(huge);
  Mesh scales{"all scales", {}, {}};
  for (int i = 0; i < 160; ++i) {
    const double s = std::pow(1.2, i) * 1e-9;
    scales.add({s, 0, 0}, {2 * s, 0, 0}, {s, s, s});
  }
  meshes.push_back(scales);
  Mesh one{"one", {}, {}};
  one.add({0, 0, 0}, {1, 0, 0}, {0, 1, 0});
  meshes.push_back(one);
  for (Mesh& mesh : meshes)
    for (Vec3d& vertex : mesh.vertices) vertex = vertex + offset;
  return meshes;
}

}  // namespace pc::test
