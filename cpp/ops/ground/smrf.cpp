#include "ops/ground/smrf.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr double kStraySlope = 5.0;  // section 2.1: 500 % in a window of one cell, on the inverted surface
constexpr double kMaxWindowCells = 200;
constexpr std::uint64_t kFewestPoints = 10;

void check_parameters(const SmrfParams& params) {
  const auto at_least = [](double value, double low) { return std::isfinite(value) && value >= low; };
  require(at_least(params.cell_size, 1e-6), "cell_size must be finite and above 0");
  require(at_least(params.slope, 0), "slope must be finite and not below 0");
  require(at_least(params.window_radius, params.cell_size), "window_radius must be at least cell_size");
  require(params.window_radius / params.cell_size <= kMaxWindowCells,
          "window_radius must be at most 200 cells; take a larger cell_size");
  require(at_least(params.elevation_threshold, 1e-6), "elevation_threshold must be finite and above 0");
  require(at_least(params.elevation_scale, 0), "elevation_scale must be finite and not below 0");
  require(at_least(params.net_spacing, 0), "net_spacing must be finite and not below 0");
}

/// Marks cells that openings by disks of 1 .. radius cells lower by more than the slope explains. Marks are permanent.
void mark_objects(SurfaceGrid surface, double slope, std::uint32_t radius, BulkVector<std::uint8_t>& object,
                  OpContext& ctx) {
  const std::size_t cells = surface.height.size();
  BulkVector<float> before(cells);
  for (std::uint32_t r = 1; r <= radius; ++r) {
    parallel_for(ctx, cells, kGrain, [&](std::size_t begin, std::size_t end) {
      std::copy(surface.height.data() + begin, surface.height.data() + end, before.data() + begin);
    });
    open_by_disk(surface, r, ctx);
    const auto limit = static_cast<float>(slope * r * surface.lattice.size);
    parallel_for(ctx, cells, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t cell = begin; cell < end; ++cell)
        object[cell] |= before[cell] - surface.height[cell] > limit ? 1 : 0;
    });
  }
}

/// Net cutting: replaces lines of the surface by those of the surface opened at twice the largest radius, which cuts
/// objects wider than the window.
void cut_by_net(SurfaceGrid& surface, std::uint32_t radius, std::uint32_t spacing, OpContext& ctx) {
  SurfaceGrid opened{surface.lattice, BulkVector<float>(surface.height.size())};
  std::copy(surface.height.begin(), surface.height.end(), opened.height.begin());
  open_by_disk(opened, 2 * radius, ctx);
  for (std::uint32_t y = 0; y < surface.lattice.ny; ++y) {
    for (std::uint32_t x = 0; x < surface.lattice.nx; ++x) {
      if (x % spacing == 0 || y % spacing == 0)
        surface.height[surface.index(x, y)] = opened.height[surface.index(x, y)];
    }
  }
}

/// Cells of the margin hold no point. If all known cells are objects, the lowest of them is kept: it stands on nothing.
void keep_lowest(const BulkVector<std::uint8_t>& known, const BulkVector<float>& height,
                 BulkVector<std::uint8_t>& object) {
  std::size_t lowest = known.size();
  for (std::size_t cell = 0; cell < known.size(); ++cell) {
    if (known[cell] == 0) continue;
    if (object[cell] == 0) return;
    if (lowest == known.size() || height[cell] < height[lowest]) lowest = cell;
  }
  if (lowest < known.size()) object[lowest] = 0;
}

}  // namespace

ProvisionalSurface provisional_surface(SurfaceGrid lowest, const SmrfParams& params, OpContext& ctx) {
  const std::size_t cells = lowest.height.size();
  ProvisionalSurface result{{lowest.lattice, BulkVector<float>(cells)}, BulkVector<std::uint8_t>(cells), 0};
  for (std::size_t cell = 0; cell < cells; ++cell)
    result.known[cell] = std::isnan(lowest.height[cell]) ? 0 : 1;
  fill_membrane(lowest, MembraneDetail::kEveryCell, ctx);

  BulkVector<std::uint8_t> object(cells);
  SurfaceGrid inverted{lowest.lattice, BulkVector<float>(cells)};
  for (std::size_t cell = 0; cell < cells; ++cell) inverted.height[cell] = -lowest.height[cell];
  mark_objects(std::move(inverted), kStraySlope, 1, object, ctx);
  keep_lowest(result.known, lowest.height, object);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    if (object[cell] == 0) continue;
    lowest.height[cell] = kNaN;
    result.known[cell] = 0;
  }
  fill_membrane(lowest, MembraneDetail::kEveryCell, ctx);
  std::copy(lowest.height.begin(), lowest.height.end(), result.ground.height.begin());

  std::fill(object.begin(), object.end(), std::uint8_t{0});
  const auto radius = static_cast<std::uint32_t>(std::ceil(params.window_radius / params.cell_size));
  const auto net = static_cast<std::uint32_t>(params.net_spacing / params.cell_size);
  if (params.net_spacing > 0) {
    BulkVector<float> before(cells);
    std::copy(lowest.height.begin(), lowest.height.end(), before.begin());
    cut_by_net(lowest, radius, std::max(1U, net), ctx);
    for (std::size_t cell = 0; cell < cells; ++cell)
      object[cell] |= before[cell] - lowest.height[cell] > params.slope * radius * params.cell_size ? 1 : 0;
  }
  mark_objects(std::move(lowest), params.slope, radius, object, ctx);
  keep_lowest(result.known, result.ground.height, object);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    result.object_cell_count += object[cell];
    if (object[cell] != 0) result.known[cell] = 0;
    if (result.known[cell] == 0) result.ground.height[cell] = kNaN;
  }
  fill_membrane(result.ground, MembraneDetail::kEveryCell, ctx);
  return result;
}

SmrfResult smrf(HitPoints points, const SmrfParams& params, OpContext& ctx, const GroundFrame* frame) {
  check_parameters(params);
  if (frame != nullptr) check_frame(*frame);
  const GroundExtent extent = ground_extent(points, ctx);
  if (extent.finite_count < kFewestPoints) {
    throw Error(ErrorCode::kInvalidArgument, "Need at least " + std::to_string(kFewestPoints) +
                                                 " points, got " + std::to_string(extent.finite_count));
  }
  const double ex = extent.box.max.x - extent.box.min.x, ey = extent.box.max.y - extent.box.min.y;
  if ((ex / params.cell_size + 4) * (ey / params.cell_size + 4) > static_cast<double>(kMaxSurfaceCells)) {
    throw Error(ErrorCode::kInvalidArgument, "cell_size " + std::to_string(params.cell_size) +
                                                 " needs more than 25 M cells for an extent of " +
                                                 std::to_string(std::max(ex, ey)) + " m; take a larger one");
  }
  const LowOutliers outliers = find_low_outliers(points, extent, kGroundConstants.low, ctx, frame);
  ctx.begin_phase("Opening the surface", 0);
  const Lattice lattice =
      lattice_in(frame, extent.box, params.cell_size, kSurfaceMargin, kFrameBlock, outliers.lattice.plane());
  require(lattice.cells() <= 2 * kMaxSurfaceCells, "the points lie too far apart for the cells of the frame");
  const ProvisionalSurface surface =
      provisional_surface(lowest_surface(points.xyz(), lattice, outliers, ctx), params, ctx);

  SmrfResult result{
      Column<std::uint8_t>(points.size()), 0, 0, outliers.count, lattice.cells(), surface.object_cell_count};
  std::atomic<std::uint64_t> ground{0};
  ctx.begin_phase("Classifying points", points.size());
  parallel_for(ctx, points.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t own = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d& p = points.xyz()[i];
      bool is_ground = false;
      if (is_finite(p)) {
        const SurfacePoint at = surface_at(surface.ground, p);
        const double limit = params.elevation_threshold + params.elevation_scale * at.slope;
        is_ground = std::abs(lattice.height_of(p) - at.height) <= limit;
      }
      result.ground_class[i] =
          static_cast<std::uint8_t>(is_ground ? GroundClass::kGround : GroundClass::kPlant);
      own += is_ground;
    }
    ground.fetch_add(own, std::memory_order_relaxed);
  });
  result.ground_count = ground;
  result.plant_count = points.size() - ground;
  return result;
}

}  // namespace pc
