#pragma once
#include "core/gpu_run.h"
#include "core/memory.h"
#include "ops/ground/cloth_simulation_kernel.h"
#include "ops/ground/low_outliers.h"

namespace pc {

/// Inverted terrain below every particle of a cloth.
struct TerrainGrid {
  Lattice lattice;
  BulkVector<float> height;      ///< (lattice.cells()) inverted, relative to the plane of the lattice
  std::uint64_t occupied_count;  ///< cells that hold a point; the others have the height of one of these
};

/// Number of particles of a cloth before the first point.
constexpr std::uint32_t kClothMargin = 2;

/// Rasterises the points that are no low outliers: a particle gets the height of the point nearest to it in its cell (of
/// equally near ones the lowest). Cells without points are filled by fill_empty_cells.
///
/// Order    Does not depend on threads or the order of the points.
/// Cost     One pass over the points, O(1) per cell; 12 bytes per cell.
/// Cancel   Within 250 ms for any input; no partial result.
/// Source   Zhang et al. 2016 section 3.2.
TerrainGrid rasterize_terrain(Span<const Vec3d> xyz, const Lattice& lattice, const LowOutliers& outliers,
                              GpuRun& gpu, OpContext& ctx);

/// Gives a cell that is NaN the value of the next cell in its row that is not, of larger x if there is one; in an empty
/// row that of the next cell in its column, of smaller y if there is one; otherwise that of the nearest cell. All NaN
/// stays as it is.
/// Source   The scan lines of the authors' published program.
void fill_empty_cells(const Lattice& lattice, BulkVector<float>& values, OpContext& ctx);

}  // namespace pc
