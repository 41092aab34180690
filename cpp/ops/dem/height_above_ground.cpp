#include "ops/dem/height_above_ground.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

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

double median_above_ground(HitPoints points, const RasterFrame& frame, Span<const double> terrain,
                           OpContext& ctx) {
  constexpr double kStep = 0.0005, kMost = 2;
  constexpr auto kBins = static_cast<std::size_t>(2 * kMost / kStep);
  check_raster(frame);
  require(terrain.size == frame.cells(), "one terrain value per cell is needed");
  const RasterSample surface(frame, terrain);
  const auto workers = static_cast<std::size_t>(ctx.threads());
  std::vector<std::uint64_t> counts(workers * kBins);
  ctx.begin_phase("Measuring height above ground", points.size());
  parallel_for_worker(ctx, points.size(), std::size_t{1} << 15,
                      [&](std::size_t begin, std::size_t end, int worker) {
                        std::uint64_t* const own = counts.data() + static_cast<std::size_t>(worker) * kBins;
                        for (std::size_t p = begin; p < end; ++p) {
                          const Vec3d& point = points.xyz()[p];
                          if (!is_finite(point)) continue;
                          const double above = point.z - surface.at(point.x, point.y);
                          if (above >= -kMost && above < kMost)
                            ++own[std::min(kBins - 1, static_cast<std::size_t>((above + kMost) / kStep))];
                        }
                      });
  for (std::size_t bin = 0; bin < kBins; ++bin)
    for (std::size_t worker = 1; worker < workers; ++worker) counts[bin] += counts[worker * kBins + bin];
  const std::uint64_t total =
      std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(kBins), std::uint64_t{0});
  std::uint64_t below = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    below += counts[bin];
    if (2 * below >= total && total > 0) return (static_cast<double>(bin) + 0.5) * kStep - kMost;
  }
  return std::nan("");
}

}  // namespace pc
