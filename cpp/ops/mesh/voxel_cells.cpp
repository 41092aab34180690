#include "ops/mesh/voxel_cells.h"

#include <cmath>

#include "core/error.h"

namespace pc {

namespace {

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

/// Of a place from the centre along an axis.
std::optional<std::uint32_t> index(double place, double size, std::uint32_t count) {
  const double cell = std::floor((place + size / 2) / (size / count));
  if (!(cell >= 0 && cell < count)) return std::nullopt;
  return static_cast<std::uint32_t>(cell);
}

}  // namespace

VoxelCells::VoxelCells(const VoxelBox& grid) : grid_(grid) {
  check(grid);
  rotation_ = PlaneRotation::of_degrees(grid.rotation_deg);
}

std::optional<std::uint32_t> VoxelCells::cell_of(const Vec3d& p) const {
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

}  // namespace pc
