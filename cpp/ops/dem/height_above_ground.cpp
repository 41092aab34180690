#include "ops/dem/height_above_ground.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

/// Between which two of `count` centres a coordinate lies, and how far from the first to the second.
struct Between {
  std::size_t low, high;
  double weight;
};

Between between(double cells, std::uint32_t count) {
  const double at = std::clamp(cells - 0.5, 0.0, static_cast<double>(count - 1));
  const auto low = static_cast<std::size_t>(at);
  return {low, std::min<std::size_t>(low + 1, count - 1), at - static_cast<double>(low)};
}

double lerp(double a, double b, double weight) { return a + weight * (b - a); }

}  // namespace

Column<float> height_above_ground(HitPoints points, const RasterFrame& frame, Span<const double> terrain,
                                  OpContext& ctx) {
  check_raster(frame);
  require(terrain.size == frame.cells(), "one terrain value per cell is needed");
  Column<float> heights(points.size());
  ctx.begin_phase("Measuring height above ground", points.size());
  parallel_for(ctx, points.size(), std::size_t{1} << 15, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const Vec3d& point = points.xyz()[p];
      if (!is_finite(point)) continue;
      const Between x = between((point.x - frame.min_x) / frame.cell, frame.nx);
      const Between y = between((point.y - frame.min_y) / frame.cell, frame.ny);
      const double* low = terrain.data + y.low * frame.nx;
      const double* high = terrain.data + y.high * frame.nx;
      const double ground =
          lerp(lerp(low[x.low], low[x.high], x.weight), lerp(high[x.low], high[x.high], x.weight), y.weight);
      const auto height = static_cast<float>(point.z - ground);
      heights[p] = std::isfinite(height) ? height : 0;
    }
  });
  return heights;
}

}  // namespace pc
