#include "ops/mesh/grid_binning.h"

#include <vector>

#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;

Vec3d centroid(Span<const Vec3d> vertices, Span<const std::uint32_t> indices, std::size_t triangle) {
  Vec3d sum{0, 0, 0};
  for (std::size_t k = 0; k < 3; ++k) {
    const std::uint32_t vertex = indices[3 * triangle + k];
    require(vertex < vertices.size, "a triangle has a corner beyond the vertices");
    sum = sum + vertices[vertex];
  }
  return {sum.x / 3, sum.y / 3, sum.z / 3};
}

}  // namespace

BinnedTriangles grid_binning(Span<const Vec3d> vertices, Span<const std::uint32_t> indices,
                             const VoxelBox& grid, OpContext& ctx) {
  require(indices.size % 3 == 0, "indices must be three per triangle");
  const VoxelCells cells(grid);
  const std::size_t count = indices.size / 3;
  std::vector<std::size_t> firsts((count + kGrain - 1) / kGrain + 1, 0);
  ctx.begin_phase("Binning into grid", 2 * count);
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t)
      firsts[begin / kGrain + 1] += cells.cell_of(centroid(vertices, indices, t)) ? 1 : 0;
  });
  for (std::size_t k = 1; k < firsts.size(); ++k) firsts[k] += firsts[k - 1];
  BinnedTriangles out{Column<std::uint32_t>(3 * firsts.back()), Column<std::uint32_t>(firsts.back())};
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    std::size_t at = firsts[begin / kGrain];
    for (std::size_t t = begin; t < end; ++t) {
      const auto cell = cells.cell_of(centroid(vertices, indices, t));
      if (!cell) continue;
      for (std::size_t k = 0; k < 3; ++k) out.indices[3 * at + k] = indices[3 * t + k];
      out.cell_ids[at++] = *cell;
    }
  });
  return out;
}

BinnedCells bin_cells(Span<const Vec3d> vertices, Span<const std::uint32_t> indices, const VoxelBox& grid,
                      OpContext& ctx) {
  require(indices.size % 3 == 0, "indices must be three per triangle");
  const VoxelCells cells(grid);
  const std::size_t count = indices.size / 3;
  BinnedCells out{Column<std::uint32_t>(count), std::size_t{grid.nx} * grid.ny * grid.nz};
  ctx.begin_phase("Binning into grid", count);
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t)
      out.cell_ids[t] = cells.cell_of(centroid(vertices, indices, t)).value_or(kNoCell);
  });
  return out;
}

}  // namespace pc
