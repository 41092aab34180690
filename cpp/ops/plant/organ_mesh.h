#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/vec3.h"
#include "ops/plant/shapes.h"

namespace pc {

/// Triangles of one organ prototype; counter-clockwise seen from outside, or from the upper side of a blade.
struct OrganMesh {
  std::vector<Vec3d> positions;
  std::vector<std::array<float, 2>> uvs;  ///< (positions) v downwards; empty = no texture
  std::vector<std::array<std::uint32_t, 3>> triangles;
  std::vector<UnitRgb> colors;  ///< (triangles)

  std::uint32_t add(const Vec3d& position) {
    positions.push_back(position);
    return static_cast<std::uint32_t>(positions.size() - 1);
  }
  /// Takes the shape along; the colour is that of all its triangles.
  void append(const OrganMesh& part, const std::array<Vec3d, 4>& frame, double scale);
};

/// Half the cross product: its length is the area of the triangle.
inline Vec3d triangle_area_vector(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  return cross(b - a, c - a) * 0.5;
}
/// Sum of the areas of the triangles.
double surface_area(const OrganMesh& mesh);
/// Sum of the area vectors, of any length: the side that the mesh turns on the whole.
Vec3d mean_normal(const OrganMesh& mesh);
/// Volume inside a closed mesh, positive when its triangles face outwards (divergence theorem).
double enclosed_volume(const OrganMesh& mesh);

}  // namespace pc
