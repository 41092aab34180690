#include "ops/fit/mesh_smoothing.h"

#include <algorithm>
#include <cmath>

#include "core/memory.h"

namespace pc {

namespace {

constexpr double kLambda = 0.5, kMu = -0.53;
constexpr double kLeastKeptVolume = 0.5;
constexpr std::size_t kPollEvery = std::size_t{1} << 16;

/// Moves each vertex by a share of the way to the mean of its neighbours. Every edge is met once from each end.
void move(CrownMesh& mesh, double share, OpContext& ctx) {
  struct Sum {
    Vec3d sum;
    double count;
  };
  BulkVector<Sum> sums(mesh.vertices.size());
  for (std::size_t i = 0; i < mesh.triangles.size(); i += 3) {
    if (i % (3 * kPollEvery) == 0) ctx.checkpoint();
    for (std::size_t k = 0; k < 3; ++k) {
      Sum& at = sums[mesh.triangles[i + k]];
      at.sum = at.sum + mesh.vertices[mesh.triangles[i + (k + 1) % 3]];
      at.count += 1;
    }
  }
  for (std::size_t v = 0; v < sums.size(); ++v) {
    if (v % kPollEvery == 0) ctx.checkpoint();
    const Vec3d toward = sums[v].sum * (1 / sums[v].count) - mesh.vertices[v];
    mesh.vertices[v] = mesh.vertices[v] + toward * share;
  }
}

}  // namespace

void smooth_taubin(CrownMesh& mesh, OpContext& ctx) {
  move(mesh, kLambda, ctx);
  move(mesh, kMu, ctx);
}

MeshTotals finish_mesh(CrownMesh& mesh, OpContext& ctx) {
  MeshTotals totals{0, 0};
  mesh.normals.assign(mesh.vertices.size(), {0, 0, 0});
  for (std::size_t i = 0; i < mesh.triangles.size(); i += 3) {
    if (i % (3 * kPollEvery) == 0) ctx.checkpoint();
    const Vec3d origin = mesh.vertices[0], a = mesh.vertices[mesh.triangles[i]];
    const Vec3d b = mesh.vertices[mesh.triangles[i + 1]], c = mesh.vertices[mesh.triangles[i + 2]];
    const Vec3d area = cross(b - a, c - a) * 0.5;
    totals.area_m2 += std::sqrt(dot(area, area));
    totals.volume_m3 += dot(a - origin, area) / 3;
    for (std::size_t k = 0; k < 3; ++k) {
      Vec3d& normal = mesh.normals[mesh.triangles[i + k]];
      normal = normal + area;
    }
  }
  for (Vec3d& normal : mesh.normals) {
    const double length = std::sqrt(dot(normal, normal));
    normal = length > 0 ? normal * (1 / length) : Vec3d{0, 0, 1};
  }
  return totals;
}

void smooth(CrownMesh& mesh, int steps, SmoothingBox limit, OpContext& ctx) {
  CrownMesh smoothed{mesh.vertices, {}, mesh.triangles};
  for (int step = 0; step < steps; ++step) smooth_taubin(smoothed, ctx);
  if (limit == SmoothingBox::kKept) {
    Box3d box;
    for (const Vec3d& vertex : mesh.vertices) box.add(vertex);
    for (Vec3d& vertex : smoothed.vertices) {
      vertex = {std::clamp(vertex.x, box.min.x, box.max.x), std::clamp(vertex.y, box.min.y, box.max.y),
                std::clamp(vertex.z, box.min.z, box.max.z)};
    }
  }
  const double ratio = finish_mesh(smoothed, ctx).volume_m3 / finish_mesh(mesh, ctx).volume_m3;
  if (ratio >= kLeastKeptVolume && ratio <= 1 / kLeastKeptVolume) mesh.vertices.swap(smoothed.vertices);
}

}  // namespace pc
