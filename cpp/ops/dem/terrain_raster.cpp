#include "ops/dem/terrain_raster.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "ops/dem/cell_interpolation.h"
#include "ops/dem/cell_percentile.h"
#include "ops/dem/slope_correction.h"
#include "spatial/hull.h"
#include "spatial/nearest_cells.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;

BulkVector<std::uint8_t> finite_cells(Span<const double> z, OpContext& ctx) {
  BulkVector<std::uint8_t> known(z.size);
  parallel_for(ctx, z.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) known[c] = std::isnan(z[c]) ? 0 : 1;
  });
  return known;
}

std::uint64_t count_voids(Span<const double> z, OpContext& ctx) {
  std::atomic<std::uint64_t> voids{0};
  parallel_for(ctx, z.size, kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t found = 0;
    for (std::size_t c = begin; c < end; ++c) found += std::isnan(z[c]);
    voids += found;
  });
  return voids;
}

/// Fills z inside the hull, with slope correction if requested.
template <class Interpolation>
void interpolate(const PlacedCells& placed, bool at_centers, Span<double> z, OpContext& ctx) {
  const Interpolation interpolation(placed.cells, ctx);
  interpolation.fill(z, ctx);
  if (at_centers)
    correct_slopes(
        placed, z, [&](Span<double> again) { interpolation.fill(again, ctx); }, ctx);
}

/// Copies the nearest known value into the cells outside the hull, or only into those of a footprint.
void fill_outside(const KnownCells& cells, Span<const std::uint8_t> footprint, Span<double> z,
                  OpContext& ctx) {
  const BulkVector<std::uint32_t> nearest = nearest_cells(cells.nx, cells.ny, cells.known, ctx);
  parallel_for(ctx, z.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      if (cells.known[c] != 0 || cells.in_hull(c % cells.nx, c / cells.nx) || nearest[c] == kNoCell) continue;
      if (footprint.empty() || footprint[c] != 0) z[c] = z[nearest[c]];
    }
  });
}

}  // namespace

std::uint64_t terrain_raster_bytes(std::uint64_t point_count, std::uint64_t cells) {
  // Points by cell and their places, then the triangulation: 72 + 8 bytes for each of at most `cells` rim cells.
  return std::max(17 * point_count + 9 * cells, 92 * cells);
}

TerrainRasterResult terrain_raster(HitPoints points, const TerrainRasterParams& params,
                                   Span<const std::uint8_t> footprint, OpContext& ctx) {
  const RasterFrame& frame = params.frame;
  check_raster(frame);
  require(footprint.empty() || footprint.size == frame.cells(), "footprint needs one value per cell");
  ctx.begin_phase("Gridding points", 2 * points.size() + 10 * frame.cells());
  CellPercentiles representatives = cell_percentiles(points, frame, params.percentile, ctx);
  TerrainRasterResult result{std::move(representatives.z), representatives.populated_count, 0, false};
  if (result.populated_count == 0) {
    result.void_count = frame.cells();
    return result;
  }
  const BulkVector<std::uint8_t> known = finite_cells(result.z.view(), ctx);
  const RasterHull hull = raster_hull(frame.nx, frame.ny, known.view(), ctx);
  const KnownCells cells{frame.nx, frame.ny, known.view(), hull};
  const PlacedCells placed{cells, representatives.place.view(), frame.cell};
  result.on_a_line = hull.degenerate;
  if (params.method == RasterMethod::kIdw) {
    interpolate<IdwInterpolation>(placed, params.at_centers, result.z.view(), ctx);
  } else if (params.method == RasterMethod::kTin && !hull.degenerate) {
    interpolate<TinInterpolation>(placed, params.at_centers, result.z.view(), ctx);
  } else {
    interpolate<NearestInterpolation>(placed, params.at_centers, result.z.view(), ctx);
  }
  if (params.gaps == RasterGaps::kFill) {
    fill_outside(cells, {}, result.z.view(), ctx);
  } else if (params.gaps == RasterGaps::kFootprint && !footprint.empty()) {
    fill_outside(cells, footprint, result.z.view(), ctx);
  }
  result.void_count = count_voids(result.z.view(), ctx);
  return result;
}

}  // namespace pc
