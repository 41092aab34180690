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

/// Rasterises the points that are not low outliers: a particle gets the height of the point nearest to it in its cell,
/// among the points at most `band` above the cell's lowest. A cell without points gets the height of the nearest cell
/// that has points (nearest_cells.h defines which, if several are equally near).
///
/// Order    Does not depend on threads or the order of the points.
/// Cost     Two passes over the points, O(1) per cell; 20 bytes per cell.
/// Cancel   Within 250 ms for any input; no partial result.
/// Source   Zhang et al. 2016 section 3.2 (nearest point of the cell). The band is own: in a cell full of vegetation
///          the point nearest to the particle is usually not ground.
TerrainGrid rasterize_terrain(Span<const Vec3d> xyz, const Lattice& lattice, float band,
                              const LowOutliers& outliers, GpuRun& gpu, OpContext& ctx);

/// Gives NaN cells the value of the nearest cell that has one. A grid of NaN alone is left unchanged.
void fill_from_nearest(const Lattice& lattice, BulkVector<float>& values, OpContext& ctx);

}  // namespace pc
