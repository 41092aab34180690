#include "ops/ground/ground_auto.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>

#include "core/parallel.h"
#include "ops/ground/ground_cells.h"
#include "ops/ground/ground_measures.h"
#include "ops/ground/smrf.h"

namespace pc {

namespace {

using cloth_kernel::Lattice;

constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr std::uint64_t kFewestPoints = 10;
constexpr double kMaxCells = 16e6;
constexpr double kCellsPerSpacing = 0.85, kMinCell = 0.25, kMaxCell = 5, kMinSeedCell = 1;
constexpr double kSteepSlope = 0.06, kGentle = 0.3, kSteepRange = 0.5;
constexpr double kSeedBand = 0.3, kSeedSlopeShare = 0.7;
constexpr int kRounds = 8;
constexpr double kGrowRoughness = 4, kMinGrow = 0.05, kMaxGrow = 0.5;
constexpr float kGrowSlopeShare = 0.3F;
constexpr double kClassPerSpacing = 0.25, kMinClass = 0.05, kMaxSpacingClass = 0.3, kMaxClass = 0.5;
constexpr double kClassSlopeShare = 0.8;

SurfaceGrid copy_of(const SurfaceGrid& grid) {
  SurfaceGrid copy{grid.lattice, BulkVector<float>(grid.height.size())};
  std::copy(grid.height.begin(), grid.height.end(), copy.height.begin());
  return copy;
}

ProvisionalSurface find_seeds(const SurfaceGrid& coarse, GroundAutoParams& derived, OpContext& ctx) {
  SmrfParams opening = flat_opening(derived.seed_cell_size);
  derived.slope = opening.slope;
  derived.window_radius = opening.window_radius;
  ProvisionalSurface seeds = provisional_surface(copy_of(coarse), opening, ctx);
  derived.steepness = steepness_of(seeds.ground);
  const double steep = std::clamp((derived.steepness - kGentle) / kSteepRange, 0.0, 1.0);
  derived.between_share = 0.5 * steep;
  if (steep == 0) return seeds;
  derived.slope = opening.slope += kSteepSlope * steep;
  return provisional_surface(copy_of(coarse), opening, ctx);
}

/// Fine cells whose lowest point lies near the surface of the seeds.
BulkVector<std::uint8_t> near_seeds(const ProvisionalSurface& seeds, const Lattice& lattice,
                                    const BulkVector<CellPoint>& points, OpContext& ctx) {
  BulkVector<std::uint8_t> ground(lattice.cells());
  parallel_for(ctx, lattice.ny, 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cell = begin * lattice.nx; cell < end * lattice.nx; ++cell) {
      if (std::isnan(points[cell].height)) continue;
      if (seeds.ground.lattice.size == lattice.size) {
        ground[cell] = seeds.known[cell];
        continue;
      }
      const double u = static_cast<double>(cell % lattice.nx) + points[cell].du - lattice.pad;
      const double v = static_cast<double>(cell / lattice.nx) + points[cell].dv - lattice.pad;
      const Vec3d at{lattice.x_min + std::max(0.0, u) * lattice.size,
                     lattice.y_min + std::max(0.0, v) * lattice.size, 0};
      const SurfacePoint under = surface_at(seeds.ground, at);
      const double band = kSeedBand + kSeedSlopeShare * under.slope * seeds.ground.lattice.size;
      ground[cell] = std::abs(points[cell].height - under.height) <= band ? 1 : 0;
    }
  });
  return ground;
}

/// Planes of the four cells around a point, blended bilinearly.
float blended_height(const BulkVector<CellPlane>& planes, const Lattice& lattice, const Vec3d& p) {
  const cloth_kernel::CellPosition at = cloth_kernel::position_of(lattice, p);
  const std::uint32_t u = cloth_kernel::at_most(at.u, lattice.nx - 2),
                      v = cloth_kernel::at_most(at.v, lattice.ny - 2);
  const auto fu = static_cast<float>(at.u - u), fv = static_cast<float>(at.v - v);
  const CellPlane* const low = planes.data() + v * std::size_t{lattice.nx} + u;
  const CellPlane* const high = low + lattice.nx;
  const float a = (1 - fu) * low[0].at(fu, fv) + fu * low[1].at(fu - 1, fv);
  const float b = (1 - fu) * high[0].at(fu, fv - 1) + fu * high[1].at(fu - 1, fv - 1);
  return (1 - fv) * a + fv * b;
}

void label(HitPoints points, const Lattice& lattice, const GroundCells& cells,
           const BulkVector<CellPlane>& planes, GroundAutoResult& result, OpContext& ctx) {
  result.ground_class = Column<std::uint8_t>(points.size());
  std::atomic<std::uint64_t> ground{0};
  ctx.begin_phase("Classifying points", points.size());
  parallel_for(ctx, points.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t own = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d& p = points.xyz()[i];
      bool is_ground = false;
      if (cloth_kernel::finite(p)) {
        const std::size_t cell = cloth_kernel::cell_of(lattice, p);
        const float height = cloth_kernel::height_of(lattice, p);
        const CellPlane& plane = planes[cell];
        const double rise = std::sqrt(plane.gu * plane.gu + plane.gv * plane.gv);  // within one cell
        const double slack = kClassSlopeShare * std::min(rise, rise / lattice.size);
        is_ground =
            std::abs(height - blended_height(planes, lattice, p)) <= result.derived.class_threshold + slack ||
            (cells.is_ground(cell) && height == cells.point(cell).height);
      }
      result.ground_class[i] =
          static_cast<std::uint8_t>(is_ground ? GroundClass::kGround : GroundClass::kPlant);
      own += is_ground;
    }
    ground.fetch_add(own, std::memory_order_relaxed);
  });
  result.ground_count = ground;
  result.plant_count = points.size() - ground;
}

void grow(GroundCells& cells, GroundAutoParams& derived, OpContext& ctx) {
  derived.roughness_m = cells.roughness(ctx);
  derived.grow_threshold = std::clamp(kGrowRoughness * derived.roughness_m, kMinGrow, kMaxGrow);
  const GrowthRule rule{static_cast<float>(derived.grow_threshold), kGrowSlopeShare,
                        static_cast<float>(derived.between_share)};
  for (int round = 0; round < kRounds; ++round) {
    if (cells.revise(rule, round % 2 == 0, ctx) == 0 && round % 2 == 0) break;
  }
  derived.roughness_m = cells.roughness(ctx);
  const double by_spacing =
      std::clamp(kClassPerSpacing * derived.point_spacing_m, kMinClass, kMaxSpacingClass);
  derived.class_threshold = std::min(by_spacing + derived.roughness_m, kMaxClass);
}

}  // namespace

GroundAutoResult ground_auto(HitPoints points, OpContext& ctx) {
  const GroundExtent extent = ground_extent(points, ctx);
  if (extent.finite_count < kFewestPoints) {
    throw Error(ErrorCode::kInvalidArgument, "Need at least " + std::to_string(kFewestPoints) +
                                                 " points, got " + std::to_string(extent.finite_count));
  }
  const LowOutliers outliers = find_low_outliers(points, extent, ctx);
  GroundAutoResult result{};
  result.low_outlier_count = outliers.count;
  GroundAutoParams& derived = result.derived;
  derived.point_spacing_m = spacing_of(outliers);
  derived.cell_size = affordable_cell(
      extent, std::clamp(kCellsPerSpacing * derived.point_spacing_m, kMinCell, kMaxCell), kMaxCells);
  derived.seed_cell_size = std::max(derived.cell_size, kMinSeedCell);
  const GroundTrend trend{outliers.lattice.slope_x, outliers.lattice.slope_y};

  ctx.begin_phase("Finding the seeds of the ground", 0);
  const ProvisionalSurface seeds = find_seeds(
      lowest_surface(points.xyz(), surface_lattice(extent, derived.seed_cell_size, trend), outliers, ctx),
      derived, ctx);
  ctx.begin_phase("Growing the ground", 0);
  const Lattice lattice = surface_lattice(extent, derived.cell_size, trend);
  BulkVector<CellPoint> cell_points =
      lowest_points(points.xyz(), lowest_surface(points.xyz(), lattice, outliers, ctx), outliers, ctx);
  BulkVector<std::uint8_t> start = near_seeds(seeds, lattice, cell_points, ctx);
  GroundCells cells(lattice, std::move(cell_points), std::move(start));
  grow(cells, derived, ctx);
  SurfaceGrid far{lattice, BulkVector<float>(lattice.cells())};
  for (std::size_t cell = 0; cell < lattice.cells(); ++cell) {
    far.height[cell] =
        cells.is_ground(cell) ? cells.point(cell).height : std::numeric_limits<float>::quiet_NaN();
  }
  fill_membrane(far, ctx);
  label(points, lattice, cells, cells.planes(far, ctx), result, ctx);
  return result;
}

}  // namespace pc
