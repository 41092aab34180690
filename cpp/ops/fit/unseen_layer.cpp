#include "ops/fit/unseen_layer.h"

#include <cmath>
#include <vector>

#include "core/memory.h"
#include "ops/fit/mesh_smoothing.h"

namespace pc {

namespace {

constexpr std::size_t kPollEvery = std::size_t{1} << 16;
constexpr int kNewtonSteps = 20;

/// Vertices above the mean of their neighbours.
std::uint64_t outermost_count(const CrownMesh& mesh, OpContext& ctx) {
  struct Sum {
    Vec3d sum;
    double count;
  };
  BulkVector<Sum> around(mesh.vertices.size());
  for (std::size_t i = 0; i < mesh.triangles.size(); i += 3) {
    if (i % (3 * kPollEvery) == 0) ctx.checkpoint();
    for (std::size_t k = 0; k < 3; ++k) {
      Sum& at = around[mesh.triangles[i + k]];
      at.sum = at.sum + mesh.vertices[mesh.triangles[i + (k + 1) % 3]];
      at.count += 1;
    }
  }
  std::uint64_t count = 0;
  for (std::size_t v = 0; v < around.size(); ++v) {
    if (v % kPollEvery == 0) ctx.checkpoint();
    const Vec3d up = mesh.vertices[v] - around[v].sum * (1 / around[v].count);
    count += dot(up, mesh.normals[v]) > 0 ? 1 : 0;
  }
  return count;
}

/// Volume of a mesh whose vertices are moved along their normals, as a polynomial of the distance.
struct VolumeOfDistance {
  double c0 = 0, c1 = 0, c2 = 0, c3 = 0;

  double at(double d) const { return c0 + d * (c1 + d * (c2 + d * c3)); }
  double slope_at(double d) const { return c1 + d * (2 * c2 + d * 3 * c3); }
};

VolumeOfDistance volume_of(const CrownMesh& mesh, OpContext& ctx) {
  VolumeOfDistance sum;
  const auto det = [](const Vec3d& a, const Vec3d& b, const Vec3d& c) { return dot(a, cross(b, c)) / 6; };
  const Vec3d origin = mesh.vertices[0];
  for (std::size_t i = 0; i < mesh.triangles.size(); i += 3) {
    if (i % (3 * kPollEvery) == 0) ctx.checkpoint();
    const std::uint32_t* t = &mesh.triangles[i];
    const Vec3d a = mesh.vertices[t[0]] - origin, b = mesh.vertices[t[1]] - origin;
    const Vec3d c = mesh.vertices[t[2]] - origin;
    const Vec3d &u = mesh.normals[t[0]], &v = mesh.normals[t[1]], &w = mesh.normals[t[2]];
    sum.c0 += det(a, b, c);
    sum.c1 += det(u, b, c) + det(a, v, c) + det(a, b, w);
    sum.c2 += det(a, v, w) + det(u, b, w) + det(u, v, c);
    sum.c3 += det(u, v, w);
  }
  return sum;
}

}  // namespace

double unseen_volume(const CrownMesh& mesh, const WrappedPoints& inside, OpContext& ctx) {
  CrownMesh with_normals{mesh.vertices, {}, mesh.triangles};
  const MeshTotals totals = finish_mesh(with_normals, ctx);
  const std::uint64_t on_surface = mesh.vertices.size();
  if (inside.hollow_m3 > kMostHollow * inside.volume_m3 || on_surface >= inside.count) return 0;
  const double per_point = inside.volume_m3 / static_cast<double>(inside.count - on_surface);
  const double thickness = static_cast<double>(on_surface) * per_point / totals.area_m2;
  if (!(thickness <= kMostLayer * std::cbrt(per_point))) return 0;
  const std::uint64_t outermost = outermost_count(with_normals, ctx);
  return inside.volume_m3 * static_cast<double>(outermost) /
         static_cast<double>(inside.count - outermost + 1);
}

bool widen(CrownMesh& mesh, double volume_m3, OpContext& ctx) {
  const MeshTotals totals = finish_mesh(mesh, ctx);
  const VolumeOfDistance volume = volume_of(mesh, ctx);
  const double first = (volume_m3 - totals.volume_m3) / totals.area_m2;
  double distance = 0;
  for (int step = 0; step < kNewtonSteps; ++step) {
    const double slope = volume.slope_at(distance);
    if (!(slope > 0)) return false;
    distance -= (volume.at(distance) - volume_m3) / slope;
  }
  if (!(std::abs(distance) <= 2 * std::abs(first))) return false;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    mesh.vertices[v] = mesh.vertices[v] + mesh.normals[v] * distance;
  return true;
}

}  // namespace pc
