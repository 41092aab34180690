#include "ops/ground/ground_measures.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ops/ground/ground_extent.h"
#include "ops/ground/low_outliers.h"
#include "ops/ground/smrf.h"

namespace pc {

namespace {

constexpr std::uint64_t kFewestPoints = 10;
constexpr double kMinSeedCell = 1, kMaxCell = 5, kCellsPerSpacing = 0.85;
// An opening of 25 m takes 7 us per cell of 1 m: 2 s for this many. The slope of a wide cloud needs no finer cells.
constexpr double kMaxReliefCells = 250e3;
constexpr double kWindow = 25;  // metres: half the width of a large hall
constexpr double kFlatSlope = 0.10;

double spacing_of(const LowOutliers& outliers) {
  return outliers.lattice.size / std::sqrt(outliers.points_per_cell);
}

/// The smallest of size, 1.1 size, ... for which a lattice over the extent has at most `most_cells` cells.
double affordable_cell(const GroundExtent& extent, double size, double most_cells) {
  const double ex = extent.box.max.x - extent.box.min.x, ey = extent.box.max.y - extent.box.min.y;
  while ((ex / size + 4) * (ey / size + 4) > most_cells) size *= 1.1;
  return size;
}

SmrfParams flat_opening(double cell_size) {
  return {cell_size, kFlatSlope, std::max(kWindow, cell_size), 0.5, 1.25, 0};
}

double steepness_of(const SurfaceGrid& ground) {
  const Lattice& lattice = ground.lattice;
  const double run = 2 * lattice.size;
  std::vector<float> slopes;
  for (std::uint32_t y = 1; y + 1 < lattice.ny; ++y) {
    for (std::uint32_t x = 1; x + 1 < lattice.nx; ++x) {
      const double gx = (ground.height[ground.index(x + 1, y)] - ground.height[ground.index(x - 1, y)]) / run;
      const double gy = (ground.height[ground.index(x, y + 1)] - ground.height[ground.index(x, y - 1)]) / run;
      const double sx = gx + lattice.slope_x, sy = gy + lattice.slope_y;
      slopes.push_back(static_cast<float>(std::sqrt(sx * sx + sy * sy)));
    }
  }
  const auto at = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() * 9 / 10);
  std::nth_element(slopes.begin(), at, slopes.end());
  return *at;
}

}  // namespace

GroundMeasures ground_measures(HitPoints points, OpContext& ctx) {
  const GroundExtent extent = ground_extent(points, ctx);
  if (extent.finite_count < kFewestPoints) {
    throw Error(ErrorCode::kInvalidArgument, "Need at least " + std::to_string(kFewestPoints) +
                                                 " points, got " + std::to_string(extent.finite_count));
  }
  const LowOutliers outliers = find_low_outliers(points, extent, kGroundConstants.low, ctx);
  const double spacing = spacing_of(outliers);
  const double size = affordable_cell(extent, std::clamp(kCellsPerSpacing * spacing, kMinSeedCell, kMaxCell),
                                      kMaxReliefCells);
  ctx.begin_phase("Measuring the relief", 0);
  const Lattice lattice = lattice_over(extent.box, size, kSurfaceMargin, outliers.lattice.plane());
  const ProvisionalSurface seeds =
      provisional_surface(lowest_surface(points.xyz(), lattice, outliers, ctx), flat_opening(size), ctx);
  return {spacing, steepness_of(seeds.ground)};
}

}  // namespace pc
