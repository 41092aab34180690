#include "ops/mesh/poisson.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/parallel.h"
#include "ops/mesh/poisson_samples.h"
#include "ops/mesh/poisson_solver.h"
#include "ops/mesh/poisson_surface.h"
#include "ops/mesh/poisson_trim.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

using namespace poisson_detail;

void validate(HitPoints points, Span<const Vec3d> normals, const PoissonParams& params) {
  require(normals.size == points.size(), "normals needs one entry per point");
  if (params.depth < 1 || params.depth > kMaxPoissonDepth)
    throw Error(ErrorCode::kInvalidArgument, "depth " + std::to_string(params.depth) + " must be 1 to " +
                                                 std::to_string(kMaxPoissonDepth));
  require(params.scale >= 1 && params.scale <= 10, "scale must be 1 to 10");
  require(params.samples_per_node >= 0.1 && params.samples_per_node <= 100,
          "samples_per_node must be 0.1 to 100");
  require(params.point_weight >= 0 && params.point_weight <= 1000, "point_weight must be 0 to 1000");
  if (points.size() > 0xfffffff0U)
    throw Error(ErrorCode::kUnsupported, "Poisson reconstruction takes fewer than 2^32 points");
}

void check_memory(const std::vector<BulkVector<std::uint64_t>>& refined, const PoissonParams& params) {
  const std::uint64_t bytes = level_bytes(refined);
  std::uint64_t cells = 0;
  for (const auto& list : refined) cells += 8 * list.size();
  if (cells >= kMostCells)
    throw Error(ErrorCode::kUnsupported,
                "depth " + std::to_string(params.depth) + " needs " + std::to_string(cells) +
                    " cells, at most " + std::to_string(kMostCells) + " are possible; use a smaller depth");
  if (bytes > params.memory_bytes)
    throw Error(ErrorCode::kOutOfMemory, "depth " + std::to_string(params.depth) + " needs " +
                                             std::to_string(bytes) + " bytes for " + std::to_string(cells) +
                                             " cells, " + std::to_string(params.memory_bytes) +
                                             " are allowed; a smaller depth needs a quarter per level");
}

/// Mean value at the samples, by area.
double iso_value(const std::vector<Level>& levels, const Samples& samples, OpContext& ctx) {
  double sum = 0, weight = 0;
  for (const Level& level : levels) {
    const auto over_leaves = [&](auto&& term) {
      return parallel_sum(ctx, level.cell_count(), [&](std::size_t cell) {
        double part = 0;
        if (level.child[cell] == kNone)
          for (std::uint32_t s = level.first[cell]; s < level.last[cell]; ++s) part += term(cell, s);
        return part;
      });
    };
    sum += over_leaves([&](std::size_t cell, std::uint32_t s) {
      return samples.area[s] * value_at(level, cell, samples.place[s]);
    });
    weight += over_leaves([&](std::size_t, std::uint32_t s) { return samples.area[s]; });
  }
  return sum / weight;
}

MeshColumns to_world(const UnitMesh& mesh, const Cube& cube, OpContext& ctx) {
  MeshColumns out{Column<Vec3d>(mesh.vertices.size()), Column<std::uint32_t>(mesh.indices.size())};
  parallel_for(ctx, mesh.vertices.size(), 65'536, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) out.vertices[v] = cube.origin + mesh.vertices[v] * cube.side;
  });
  parallel_for(ctx, mesh.indices.size(), 262'144, [&](std::size_t begin, std::size_t end) {
    std::copy(mesh.indices.begin() + begin, mesh.indices.begin() + end, out.indices.view().begin() + begin);
  });
  return out;
}

}  // namespace

PoissonResult poisson(HitPoints points, Span<const Vec3d> normals, const PoissonParams& params,
                      OpContext& ctx) {
  validate(points, normals, params);
  ctx.begin_phase("Building octree", 0);
  SampledCloud cloud = sample_cloud(points.xyz(), normals, params.scale, params.depth, ctx);
  require(cloud.samples.size() >= 4, "Poisson reconstruction needs points with normals at 4 or more places");
  const KdTree tree(cloud.samples.place.view(), ctx);
  measure_density(cloud, tree, params.samples_per_node, params.depth, ctx);
  auto refined = refined_cells(cloud.samples, params.depth, ctx);
  check_memory(refined, params);
  PoissonResult result{{}, cloud.ignored_count, 0, 0, static_cast<std::uint32_t>(refined.size() - 1)};
  std::vector<Level> levels = build_levels(cloud.samples, std::move(refined), ctx);
  ctx.begin_phase("Solving", 0);
  solve(levels, cloud.samples, params.point_weight, ctx);
  ctx.begin_phase("Extracting surface", 0);
  UnitMesh mesh = extract_surface(levels, iso_value(levels, cloud.samples, ctx), ctx);
  levels.clear();
  if (params.trim) {
    ctx.begin_phase("Filtering low-density vertices", mesh.vertices.size());
    const TrimCounts counts =
        trim_unsupported(mesh, {tree, cloud.samples.place.view(), cloud.spacing.view()}, ctx);
    result.trimmed_count = counts.unsupported_vertices;
    result.speck_count = counts.speck_vertices;
  }
  result.mesh = to_world(mesh, cloud.cube, ctx);
  return result;
}

std::uint64_t poisson_bytes(std::uint64_t points) {
  return points * (8 + 4 + 12 + 12 + 8 + 48 + 12 + 8 + 40 + 4 + 1);
}

}  // namespace pc
