#include "ops/dem/terrain_layers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr double kDegrees = 180 / std::numbers::pi;
constexpr double kSunAzimuth = 315 / kDegrees, kSunZenith = 45 / kDegrees;
constexpr double kLevelSlopeDeg = 1e-6;  // contract terrain section 1.3

/// Slope of z between the neighbours on both sides, as far as they have values; 0 if neither has one.
double difference(double before, double here, double after, double step) {
  if (std::isnan(before)) return std::isnan(after) ? 0 : (after - here) / step;
  return std::isnan(after) ? (here - before) / step : (after - before) / (2 * step);
}

}  // namespace

TerrainLayers terrain_layers(const RasterFrame& frame, Span<const double> z, OpContext& ctx) {
  check_raster(frame);
  require(z.size == frame.cells(), "one value per cell is needed");
  constexpr double kVoid = std::numeric_limits<double>::quiet_NaN();
  TerrainLayers layers{Column<float>(z.size), Column<float>(z.size), Column<float>(z.size)};
  const std::size_t nx = frame.nx, ny = frame.ny;
  ctx.begin_phase("Computing layers", z.size);
  parallel_for(ctx, z.size, 16384, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      const std::size_t i = c % nx, j = c / nx;
      layers.hillshade[c] = layers.slope[c] = layers.aspect[c] = static_cast<float>(kVoid);
      if (std::isnan(z[c])) continue;
      const double dx = difference(i > 0 ? z[c - 1] : kVoid, z[c], i + 1 < nx ? z[c + 1] : kVoid, frame.cell);
      const double dy =
          difference(j > 0 ? z[c - nx] : kVoid, z[c], j + 1 < ny ? z[c + nx] : kVoid, frame.cell);
      const double slope = std::atan(std::hypot(dx, dy));
      double aspect = std::atan2(-dx, -dy);
      const double shade = std::cos(kSunZenith) * std::cos(slope) +
                           std::sin(kSunZenith) * std::sin(slope) * std::cos(kSunAzimuth - aspect);
      layers.hillshade[c] = static_cast<float>(std::clamp(shade, 0.0, 1.0));
      layers.slope[c] = static_cast<float>(slope * kDegrees);
      if (slope * kDegrees < kLevelSlopeDeg) continue;
      if (aspect < 0) aspect += 2 * std::numbers::pi;
      const auto bearing = static_cast<float>(aspect * kDegrees);
      layers.aspect[c] = bearing < 360 ? bearing : 0;
    }
  });
  return layers;
}

}  // namespace pc
