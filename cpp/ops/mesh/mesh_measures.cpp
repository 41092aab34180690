#include "ops/mesh/mesh_measures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;

/// Twice the area of a triangle along its normal.
Vec3d area_vector(Span<const Vec3d> vertices, Span<const std::uint32_t> indices, std::size_t triangle) {
  Vec3d p[3];
  for (std::size_t k = 0; k < 3; ++k) {
    const std::uint32_t vertex = indices[3 * triangle + k];
    require(vertex < vertices.size, "a triangle has a corner beyond the vertices");
    p[k] = vertices[vertex];
  }
  const Vec3d a = p[1] - p[0], b = p[2] - p[0];
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

double length(const Vec3d& v) { return std::sqrt(squared_distance(v, {0, 0, 0})); }

}  // namespace

double mesh_area(Span<const Vec3d> vertices, Span<const std::uint32_t> indices, OpContext& ctx) {
  ctx.begin_phase("Computing surface area", indices.size / 3);
  return parallel_sum(ctx, indices.size / 3,
                      [&](std::size_t t) { return length(area_vector(vertices, indices, t)) / 2; });
}

Column<float> mesh_normals(Span<const Vec3d> vertices, Span<const std::uint32_t> indices, OpContext& ctx) {
  BulkVector<Vec3d> sums(vertices.size);
  ctx.begin_phase("Computing normals", indices.size / 3);
  for (std::size_t t = 0; t < indices.size / 3; ++t) {  // one thread: sums in the order of the triangles
    if (t % kGrain == 0) ctx.checkpoint();
    const Vec3d area = area_vector(vertices, indices, t);
    for (std::size_t k = 0; k < 3; ++k) {
      Vec3d& sum = sums[indices[3 * t + k]];
      sum = sum + area;
    }
  }
  Column<float> normals(3 * vertices.size);
  parallel_for(ctx, vertices.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      const double most = std::max({std::fabs(sums[v].x), std::fabs(sums[v].y), std::fabs(sums[v].z)});
      Vec3d normal{0, 0, 1};
      if (most > 0 && std::isfinite(most)) {
        const Vec3d scaled{sums[v].x / most, sums[v].y / most, sums[v].z / most};
        normal = scaled * (1 / length(scaled));
      }
      normals[3 * v] = static_cast<float>(normal.x);
      normals[3 * v + 1] = static_cast<float>(normal.y);
      normals[3 * v + 2] = static_cast<float>(normal.z);
    }
  });
  return normals;
}

NarrowVertices narrow_vertices(Span<const Vec3d> vertices, const Vec3d& shift, OpContext& ctx) {
  require(is_finite(shift), "world_shift must be finite");
  NarrowVertices out{Column<float>(3 * vertices.size), 0};
  std::vector<double> largest((vertices.size + kGrain - 1) / kGrain, 0.0);
  ctx.begin_phase("Finalizing", vertices.size);
  parallel_for(ctx, vertices.size, kGrain, [&](std::size_t begin, std::size_t end) {
    double most = 0;
    for (std::size_t v = begin; v < end; ++v) {
      const Vec3d p = vertices[v] - shift;
      std::size_t at = 3 * v;
      for (const double value : {p.x, p.y, p.z}) {
        require(std::fabs(value) <= std::numeric_limits<float>::max(),
                "a vertex is beyond the range of float32");
        most = std::max(most, std::fabs(value));
        out.vertices[at++] = static_cast<float>(value);
      }
    }
    largest[begin / kGrain] = most;
  });
  for (const double most : largest) out.largest = std::max(out.largest, most);
  return out;
}

}  // namespace pc
