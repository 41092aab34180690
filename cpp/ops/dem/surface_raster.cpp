#include "ops/dem/surface_raster.h"

#include <atomic>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/dem/pit_fill.h"

namespace pc {

TerrainRasterResult surface_raster(HitPoints points, const RasterFrame& frame, RasterMethod method,
                                   OpContext& ctx) {
  // In a crown the place of the highest point does not indicate a slope.
  const TerrainRasterParams params{frame, kSurfacePercentile, method, RasterGaps::kLeave, false};
  return terrain_raster(points, params, {}, ctx);
}

CanopyHeightResult canopy_height(const RasterFrame& frame, Span<const double> terrain,
                                 Span<const double> surface, OpContext& ctx) {
  check_raster(frame);
  require(terrain.size == frame.cells() && surface.size == frame.cells(),
          "terrain and surface must be grids of one frame");
  Column<double> raw(frame.cells());
  parallel_for(ctx, frame.cells(), std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      const double height = surface[c] - terrain[c];  // NaN if either is
      raw[c] = height < 0 ? 0 : height;
    }
  });
  CanopyHeightResult result{pit_fill(frame.nx, frame.ny, raw.view(), ctx), Column<double>(frame.cells()), 0};
  std::atomic<std::uint64_t> voids{0};
  parallel_for(ctx, frame.cells(), std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
    std::uint64_t found = 0;
    for (std::size_t c = begin; c < end; ++c) {
      result.draped_z[c] = terrain[c] + result.height[c];
      found += std::isnan(result.height[c]);
    }
    voids += found;
  });
  result.void_count = voids;
  return result;
}

}  // namespace pc
