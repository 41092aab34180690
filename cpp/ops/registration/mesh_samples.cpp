#include "ops/registration/mesh_samples.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/random.h"
#include "spatial/triangle_distance.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;

struct Corners {
  Vec3d a, b, c;
};

Corners corners(const TriangleMesh& mesh, std::size_t triangle) {
  const std::uint32_t* at = mesh.indices.data + 3 * triangle;
  return {mesh.vertices[at[0]], mesh.vertices[at[1]], mesh.vertices[at[2]]};
}

}  // namespace

Column<Vec3d> mesh_samples(const TriangleMesh& mesh, std::size_t count, std::uint64_t seed, OpContext& ctx) {
  require(count >= 1, "at least one sample is needed");
  const std::size_t triangles = mesh.triangle_count();
  ctx.begin_phase("Sampling mesh", 0);
  BulkVector<double> area_up_to(triangles);
  parallel_for(ctx, triangles, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      for (std::size_t k = 0; k < 3; ++k)
        require(mesh.indices[3 * t + k] < mesh.vertices.size, "a triangle has an index beyond the vertices");
      const Corners at = corners(mesh, t);
      const Vec3d normal = cross(at.b - at.a, at.c - at.a);
      area_up_to[t] = std::sqrt(dot(normal, normal)) / 2;
    }
  });
  double area = 0;
  for (double& up_to : area_up_to) up_to = area += up_to;
  require(std::isfinite(area) && area > 0, "the mesh has no area");
  Column<Vec3d> samples(count);
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double part = (static_cast<double>(i) + random_unit(seed, 3 * i)) / static_cast<double>(count);
      // The first triangle whose area reaches beyond that part: never one without area.
      const double* const found = std::upper_bound(area_up_to.begin(), area_up_to.end() - 1, part * area);
      const Corners at = corners(mesh, static_cast<std::size_t>(found - area_up_to.begin()));
      const double root = std::sqrt(random_unit(seed, 3 * i + 1)), along = random_unit(seed, 3 * i + 2);
      samples[i] = at.a + (at.b - at.a) * (root * (1 - along)) + (at.c - at.a) * (root * along);
    }
  });
  return samples;
}

}  // namespace pc
