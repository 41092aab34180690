#include "ops/dem/height_above_ground.h"

#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "spatial/raster_sample.h"

namespace pc {

Column<float> height_above_ground(HitPoints points, const RasterFrame& frame, Span<const double> terrain,
                                  OpContext& ctx) {
  check_raster(frame);
  require(terrain.size == frame.cells(), "one terrain value per cell is needed");
  const RasterSample surface(frame, terrain);
  Column<float> heights(points.size());
  ctx.begin_phase("Measuring height above ground", points.size());
  parallel_for(ctx, points.size(), std::size_t{1} << 15, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const Vec3d& point = points.xyz()[p];
      if (!is_finite(point)) continue;
      const double ground = surface.at(point.x, point.y);
      const auto height = static_cast<float>(point.z - ground);
      heights[p] = std::isfinite(height) ? height : 0;
    }
  });
  return heights;
}

}  // namespace pc
