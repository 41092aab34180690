#include "ops/mesh/grid_binning.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/plane_rotation.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;

void check(const VoxelBox& g) {
  require(is_finite(g.center) && is_finite(g.size) && g.size.x > 0 && g.size.y > 0 && g.size.z > 0,
          "grid.center must be finite and grid.size positive");
  require(std::isfinite(g.rotation_deg), "grid.rotation must be finite");
  require(g.nx > 0 && g.ny > 0 && g.nz > 0, "a grid has at least one cell along each axis");
  const double cells = static_cast<double>(g.nx) * g.ny * g.nz;
  require(cells < 4294967295.0, "a grid has at most 2^32 - 2 cells");
  const std::size_t columns = std::size_t{g.nx} * g.ny;
  require(g.offsets.empty() || g.offsets.size == columns, "grid.column_offsets must have nx * ny entries");
  require(g.kept.empty() || g.kept.size == columns, "grid.kept_columns must have nx * ny entries");
}

class Cells {
 public:
  explicit Cells(const VoxelBox& grid)
      : grid_(grid), rotation_(PlaneRotation::of_degrees(grid.rotation_deg)) {}

  std::optional<std::uint32_t> cell_of(const Vec3d& p) const {
    const double dx = p.x - grid_.center.x, dy = p.y - grid_.center.y;
    const auto i = index(rotation_.x_before(dx, dy), grid_.size.x, grid_.nx);
    const auto j = index(rotation_.y_before(dx, dy), grid_.size.y, grid_.ny);
    if (!i || !j) return std::nullopt;
    const std::size_t column = std::size_t{*j} * grid_.nx + *i;
    if (!grid_.kept.empty() && grid_.kept[column] == 0) return std::nullopt;
    const double raised = grid_.offsets.empty() ? 0 : grid_.offsets[column];
    const auto k = index(p.z - grid_.center.z - raised, grid_.size.z, grid_.nz);
    if (!k) return std::nullopt;
    return static_cast<std::uint32_t>(column + std::size_t{*k} * grid_.nx * grid_.ny);
  }

 private:
  /// Of a place from the centre along an axis.
  static std::optional<std::uint32_t> index(double place, double size, std::uint32_t count) {
    const double cell = std::floor((place + size / 2) / (size / count));
    if (!(cell >= 0 && cell < count)) return std::nullopt;
    return static_cast<std::uint32_t>(cell);
  }

  const VoxelBox& grid_;
  PlaneRotation rotation_;
};

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
  check(grid);
  require(indices.size % 3 == 0, "indices must be three per triangle");
  const Cells cells(grid);
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
  check(grid);
  require(indices.size % 3 == 0, "indices must be three per triangle");
  const Cells cells(grid);
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
