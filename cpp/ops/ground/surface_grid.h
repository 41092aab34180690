#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "ops/ground/low_outliers.h"
#include "spatial/lattice.h"

namespace pc {

/// Heights on a lattice, above its plane, not inverted; NaN = none.
struct SurfaceGrid {
  Lattice lattice;
  BulkVector<float> height;  ///< (lattice.cells())

  std::size_t index(std::uint32_t x, std::uint32_t y) const { return y * std::size_t{lattice.nx} + x; }
};

/// Number of cells of a surface before the first point.
constexpr std::uint32_t kSurfaceMargin = 1;

/// Lowest height of each cell, without low outliers.
SurfaceGrid lowest_surface(Span<const Vec3d> xyz, const Lattice& lattice, const LowOutliers& outliers,
                           OpContext& ctx);

/// Where the membrane is solved: in every cell, or in cells of twice the size with bilinear heights between them, which
/// takes a quarter of the time but follows the edge of a hole less closely.
enum class MembraneDetail : std::uint8_t { kEveryCell, kTwiceTheSize };

/// Fills NaN cells with the membrane through the other cells (Laplace's equation), solved from coarse to fine with a
/// fixed number of relaxations per level. A grid of NaN alone is left unchanged.
/// Order   Does not depend on threads. Cost O(cells). Cancel within 50 ms.
void fill_membrane(SurfaceGrid& grid, MembraneDetail detail, OpContext& ctx);

/// Morphological opening (erosion, then dilation) by a disk of `radius` cells; cells beyond the edge do not count.
/// Order   Exact. Cost O(cells radius). Cancel within 250 ms.
void open_by_disk(SurfaceGrid& grid, std::uint32_t radius, OpContext& ctx);

/// Bilinear height and steepness (metres per metre, relative to the plane of the lattice) at a point of the extent.
struct SurfacePoint {
  float height, slope;
};
SurfacePoint surface_at(const SurfaceGrid& grid, const Vec3d& p);

}  // namespace pc
