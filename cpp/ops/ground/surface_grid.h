#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "ops/ground/low_outliers.h"
#include "spatial/lattice.h"

namespace pc {

/// Heights on a lattice, from its plane, up is up; NaN = none.
struct SurfaceGrid {
  Lattice lattice;
  BulkVector<float> height;  ///< (lattice.cells())

  std::size_t index(std::uint32_t x, std::uint32_t y) const { return y * std::size_t{lattice.nx} + x; }
};

/// Cells of a surface before the first point.
constexpr std::uint32_t kSurfaceMargin = 1;

/// Lowest height of each cell among the points that are no low outliers.
SurfaceGrid lowest_surface(Span<const Vec3d> xyz, const Lattice& lattice, const LowOutliers& outliers,
                           OpContext& ctx);

/// Where the membrane is solved: in every cell, or in cells of twice the size with bilinear heights between them, which
/// takes a quarter of the time and follows the edge of a hole less closely.
enum class MembraneDetail : std::uint8_t { kEveryCell, kTwiceTheSize };

/// Fills cells that are NaN with the membrane through the others (Laplace's equation): solved coarse to fine, a fixed
/// number of relaxations a level. All NaN stays as it is.
/// Order   Independent of threads. Cost O(cells). Cancel within 50 ms.
void fill_membrane(SurfaceGrid& grid, MembraneDetail detail, OpContext& ctx);

/// Morphological opening (erosion, then dilation) by a disk of `radius` cells; beyond the edge nothing counts.
/// Order   Exact. Cost O(cells radius). Cancel within 250 ms.
void open_by_disk(SurfaceGrid& grid, std::uint32_t radius, OpContext& ctx);

/// Bilinear height and steepness (metres per metre, from the plane of the lattice) at a point of the extent.
struct SurfacePoint {
  float height, slope;
};
SurfacePoint surface_at(const SurfaceGrid& grid, const Vec3d& p);

}  // namespace pc
