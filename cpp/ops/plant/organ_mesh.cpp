#include "ops/plant/organ_mesh.h"

#include <cmath>

namespace pc {

void OrganMesh::append(const OrganMesh& part, const std::array<Vec3d, 4>& frame, double scale) {
  const auto first = static_cast<std::uint32_t>(positions.size());
  for (const Vec3d& p : part.positions)
    positions.push_back(frame[3] + (frame[0] * p.x + frame[1] * p.y + frame[2] * p.z) * scale);
  for (const auto& t : part.triangles) triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  colors.insert(colors.end(), part.colors.begin(), part.colors.end());
}

double surface_area(const OrganMesh& mesh) {
  double sum = 0;
  for (const auto& [a, b, c] : mesh.triangles) {
    const Vec3d v = triangle_area_vector(mesh.positions[a], mesh.positions[b], mesh.positions[c]);
    sum += std::sqrt(dot(v, v));
  }
  return sum;
}

Vec3d mean_normal(const OrganMesh& mesh) {
  Vec3d sum{0, 0, 0};
  for (const auto& [a, b, c] : mesh.triangles)
    sum = sum + triangle_area_vector(mesh.positions[a], mesh.positions[b], mesh.positions[c]);
  return sum;
}

double enclosed_volume(const OrganMesh& mesh) {
  if (mesh.positions.empty()) return 0;
  const Vec3d origin = mesh.positions[0];  // near the mesh, against cancellation
  double sum = 0;
  for (const auto& [a, b, c] : mesh.triangles)
    sum += dot(mesh.positions[a] - origin, cross(mesh.positions[b] - origin, mesh.positions[c] - origin));
  return sum / 6;
}

}  // namespace pc
