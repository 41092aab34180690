#include "ops/fit/crown_mesh.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace pc {

namespace {

constexpr double kPi = std::numbers::pi;

Vec3d unit(const Vec3d& v) { return v * (1 / std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z)); }

/// Collects the vertices of a solid, given on the cube [-1, 1]^3.
struct Builder {
  const CrownSolid& solid;
  Vec3d offset;
  CrownMesh mesh;

  void vertex(const Vec3d& at, const Vec3d& normal) {
    const auto& [center, half] = std::pair{solid.center + offset, solid.half};
    mesh.vertices.push_back({center.x + at.x * half.x, center.y + at.y * half.y, center.z + at.z * half.z});
    mesh.normals.push_back(unit(normal));
  }
  void triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    mesh.triangles.insert(mesh.triangles.end(), {a, b, c});
  }
};

/// Cosine and sine of a part of a full turn, exact at quarter turns, so that the mesh touches its box.
struct Direction {
  double cos, sin;
};
Direction direction(std::uint32_t i, std::uint32_t count) {
  constexpr Direction kQuarters[]{{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  if (4 * i % count == 0) return kQuarters[4 * i / count % 4];
  const double angle = 2 * kPi * i / count;
  return {std::cos(angle), std::sin(angle)};
}

void build_ellipsoid(Builder& out) {
  // The normal of an ellipsoid at (a x, b y, c z) is (x / a, y / b, z / c); relative to the least axis it cannot overflow.
  const Vec3d& half = out.solid.half;
  const double least = std::min({half.x, half.y, half.z});
  const auto add = [&](const Vec3d& p) {
    out.vertex(p, {p.x * (least / half.x), p.y * (least / half.y), p.z * (least / half.z)});
  };
  constexpr std::uint32_t kRings = kEllipsoidRings, kAround = kEllipsoidSegments;
  add({0, 0, 1});
  add({0, 0, -1});
  for (std::uint32_t ring = 1; ring < kRings; ++ring) {
    const Direction down = direction(ring, 2 * kRings);  // half a turn from pole to pole
    for (std::uint32_t i = 0; i < kAround; ++i) {
      const Direction around = direction(i, kAround);
      add({down.sin * around.cos, down.sin * around.sin, down.cos});
    }
  }
  const auto at = [](std::uint32_t ring, std::uint32_t i) { return 2 + (ring - 1) * kAround + i % kAround; };
  for (std::uint32_t i = 0; i < kAround; ++i) {
    out.triangle(0, at(1, i), at(1, i + 1));
    for (std::uint32_t ring = 1; ring + 1 < kRings; ++ring) {
      out.triangle(at(ring, i), at(ring + 1, i), at(ring + 1, i + 1));
      out.triangle(at(ring, i), at(ring + 1, i + 1), at(ring, i + 1));
    }
    out.triangle(1, at(kRings - 1, i + 1), at(kRings - 1, i));
  }
}

void build_prism(Builder& out) {
  for (int i = 0; i < 8; ++i) {
    const Vec3d corner{(i & 1) != 0 ? 1.0 : -1.0, (i & 2) != 0 ? 1.0 : -1.0, (i & 4) != 0 ? 1.0 : -1.0};
    out.vertex(corner, corner);
  }
  constexpr std::uint32_t kFaces[6][4]{{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                       {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  for (const auto& [a, b, c, d] : kFaces) {
    out.triangle(a, b, c);
    out.triangle(a, c, d);
  }
}

void build_cone(Builder& out) {
  const double radius = out.solid.half.x, height = 2 * out.solid.half.z, side = std::hypot(radius, height);
  out.vertex({0, 0, 1}, {0, 0, 1});
  out.vertex({0, 0, -1}, {0, 0, -1});
  for (std::uint32_t i = 0; i < kConeSegments; ++i) {
    const auto [c, s] = direction(i, kConeSegments);
    out.vertex({c, s, -1}, {height / side * c, height / side * s, radius / side - 1});
  }
  for (std::uint32_t i = 0; i < kConeSegments; ++i) {
    const std::uint32_t a = 2 + i, b = 2 + (i + 1) % kConeSegments;
    out.triangle(0, a, b);
    out.triangle(1, b, a);
  }
}

}  // namespace

CrownMesh crown_mesh(const CrownSolid& solid, const Vec3d& offset) {
  Builder out{solid, offset, {}};
  switch (solid.shape) {
    case CrownShape::kEllipsoid:
      build_ellipsoid(out);
      break;
    case CrownShape::kPrism:
      build_prism(out);
      break;
    case CrownShape::kCone:
      build_cone(out);
      break;
  }
  return std::move(out.mesh);
}

}  // namespace pc
