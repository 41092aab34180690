#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/vec3.h"

namespace pc {

/// Most cells of a terrain raster: contract terrain section 1.4.
constexpr std::uint64_t kMaxRasterCells = 4'000'000;

/// A north-up grid over the horizontal plane; cell (i, j) is number j * nx + i, row 0 at the lowest y.
///
/// A point within 1e-6 cells of an edge is on it, and belongs to the upper cell: coordinates are often multiples of a
/// millimetre, edges too, and rounding would put the points of a moved cloud into other cells.
struct RasterFrame {
  double min_x, min_y;  ///< lower-left corner of cell (0, 0), metres
  double cell;          ///< metres, > 0
  std::uint32_t nx, ny;

  std::size_t cells() const { return static_cast<std::size_t>(nx) * ny; }
  double center_x(std::size_t i) const { return min_x + (static_cast<double>(i) + 0.5) * cell; }
  double center_y(std::size_t j) const { return min_y + (static_cast<double>(j) + 0.5) * cell; }
  /// False for points outside the grid and for points that are not finite.
  bool contains(const Vec3d& p) const {
    const double u = (p.x - min_x) / cell, v = (p.y - min_y) / cell;
    return u >= -kOnEdge && u <= nx + kOnEdge && v >= -kOnEdge && v <= ny + kOnEdge && std::isfinite(p.z);
  }
  /// Number of the cell of a point of the grid. Points on the upper edges belong to the last cells.
  std::uint32_t cell_of(const Vec3d& p) const { return row(p.y) * nx + column(p.x); }
  std::uint32_t column(double x) const {
    return std::min(nx - 1, static_cast<std::uint32_t>((x - min_x) / cell + kOnEdge));
  }
  std::uint32_t row(double y) const {
    return std::min(ny - 1, static_cast<std::uint32_t>((y - min_y) / cell + kOnEdge));
  }

 private:
  static constexpr double kOnEdge = 1e-6;  ///< cells
};

/// Errors: kInvalidArgument for a cell that is not finite and positive, no cells, or more than kMaxRasterCells.
void check_raster(const RasterFrame& frame);

}  // namespace pc
