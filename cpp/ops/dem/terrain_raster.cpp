#include "ops/dem/terrain_raster.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "ops/dem/cell_interpolation.h"
#include "ops/dem/cell_percentile.h"
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

/// Copies the nearest known value into the void cells that wanted(cell) names.
template <class Wanted>
void fill_nearest(const CellSurface& s, OpContext& ctx, Wanted&& wanted) {
  const BulkVector<std::uint32_t> nearest = nearest_cells(s.nx, s.ny, s.known, ctx);
  parallel_for(ctx, s.z.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      if (s.known[c] == 0 && nearest[c] != kNoCell && wanted(c)) s.z[c] = s.z[nearest[c]];
    }
  });
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

}  // namespace

std::uint64_t terrain_raster_bytes(std::uint64_t point_count, std::uint64_t cells) {
  // Values by cell, then the triangulation: 72 + 8 bytes for each of at most `cells` rim cells.
  return std::max(12 * point_count + 8 * cells, 92 * cells);
}

TerrainRasterResult terrain_raster(HitPoints points, const TerrainRasterParams& params,
                                   Span<const std::uint8_t> footprint, OpContext& ctx) {
  const RasterFrame& frame = params.frame;
  check_raster(frame);
  require(footprint.empty() || footprint.size == frame.cells(), "footprint needs one value per cell");
  ctx.begin_phase("Gridding points", 2 * points.size() + 10 * frame.cells());
  CellPercentiles cells = cell_percentiles(points, frame, params.percentile, ctx);
  TerrainRasterResult result{std::move(cells.z), cells.populated_count, 0, false};
  if (result.populated_count == 0) {
    result.void_count = frame.cells();
    return result;
  }
  const BulkVector<std::uint8_t> known = finite_cells(result.z.view(), ctx);
  const RasterHull hull = raster_hull(frame.nx, frame.ny, known.view(), ctx);
  const CellSurface surface{frame.nx, frame.ny, known.view(), result.z.view()};
  result.on_a_line = hull.degenerate;
  const auto in_hull = [&](std::size_t c) {
    const HullRow& row = hull.rows[c / frame.nx];
    const auto i = static_cast<std::int64_t>(c % frame.nx);
    return hull.degenerate || (i >= row.first && i <= row.last);
  };
  if (params.method == RasterMethod::kIdw) {
    interpolate_idw(surface, hull, ctx);
  } else if (params.method == RasterMethod::kTin && !hull.degenerate) {
    interpolate_tin(surface, ctx);
  } else {
    fill_nearest(surface, ctx, in_hull);
  }
  const bool footprint_only = params.gaps == RasterGaps::kFootprint;
  if (params.gaps == RasterGaps::kFill || (footprint_only && !footprint.empty())) {
    fill_nearest(surface, ctx,
                 [&](std::size_t c) { return !in_hull(c) && (!footprint_only || footprint[c] != 0); });
  }
  result.void_count = count_voids(result.z.view(), ctx);
  return result;
}

}  // namespace pc
