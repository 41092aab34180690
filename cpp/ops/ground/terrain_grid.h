#pragma once
#include "core/gpu_run.h"
#include "core/memory.h"
#include "ops/ground/cloth_simulation_kernel.h"
#include "ops/ground/low_outliers.h"

namespace pc {

/// Inverted terrain below every particle of a cloth.
struct TerrainGrid {
  Lattice lattice;
  BulkVector<float> height;  ///< (lattice.cells()) inverted, relative to the plane of the lattice
  std::uint64_t
      occupied_count;  ///< cells that hold a point; the others have the height of the nearest of these
};

/// Number of particles of a cloth before the first point.
constexpr std::uint32_t kClothMargin = 2;

/// Rasterises the points that are no low outliers: a particle gets the height of the point nearest to it in
/// its cell, of those at most `band` above the cell's lowest. A cell without points gets the height of the
/// nearest cell that has some (of equally near ones the lowest row, then column).
///
/// Order    Does not depend on threads or the order of the points.
/// Cost     Two passes over the points, O(1) per cell; 20 bytes per cell.
/// Cancel   Within 250 ms for any input; no partial result.
/// Source   Zhang et al. 2016 section 3.2 (nearest point of the cell). The band is own: in a cell full of vegetation
///          the point nearest to the particle is usually not ground.
TerrainGrid rasterize_terrain(Span<const Vec3d> xyz, const Lattice& lattice, float band,
                              const LowOutliers& outliers, GpuRun& gpu, OpContext& ctx);

/// Gives cells that are NaN the value of the nearest cell that is not, of equally near ones the lowest row, then column. All
/// NaN stays as it is.
void fill_from_nearest(const Lattice& lattice, BulkVector<float>& values, OpContext& ctx);

}  // namespace pc
