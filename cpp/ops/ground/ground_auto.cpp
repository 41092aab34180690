#include "ops/ground/ground_auto.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/parallel.h"
#include "ops/ground/ground_cells.h"
#include "ops/ground/ground_frame.h"
#include "ops/ground/ground_search.h"
#include "ops/ground/layer_noise.h"
#include "ops/ground/return_layer.h"
#include "ops/ground/smrf.h"
#include "ops/ground/stand_out.h"
#include "ops/ground/upper_ground.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr std::uint64_t kFewestPoints = 10;
constexpr double kMaxCells = 16e6;
constexpr double kLargestCell = 16;
constexpr double kMostOfLayer = 1.65;  // deviations: 95 % of the layer lie below that
constexpr double kDeepest = 3.5;       // deviations: expected_depth of the lowest of 4000
constexpr double kSeenWithin = 1;      // metres: between plants as wide as that, ground is seen on some side

std::string whole(double value) {
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), "%.0f", value);
  return text.data();
}

/// Rejects extents stretched by a point far away in x or y: one cell would hold the whole scene.
void check_cells(const GroundExtent& extent, double size) {
  if (size <= kLargestCell) return;
  const double ex = extent.box.max.x - extent.box.min.x, ey = extent.box.max.y - extent.box.min.y;
  throw Error(ErrorCode::kInvalidArgument,
              "An extent of " + whole(ex) + " m by " + whole(ey) + " m needs cells of " + whole(size) +
                  " m, the ground filter works up to 16 m; crop the cloud, remove the points far away, or, "
                  "if the coordinates are not metres, import with source_units");
}

/// The cells that are ground, and planes through them.
struct Surface {
  std::unique_ptr<const GroundCells> cells;
  BulkVector<CellPlane> planes;
};

void label(HitPoints points, const Lattice& lattice, const Surface& surface, const LayerNoise& noise,
           const GroundConstants& constants, GroundAutoResult& result, OpContext& ctx) {
  const GroundCells& cells = *surface.cells;
  const BulkVector<CellPlane>& planes = surface.planes;
  const double threshold = result.derived.class_threshold;
  const double reach = constants.noise_deviations * noise.deviation_m;
  // Otherwise the whole layer is within the threshold of the surface through its lowest points.
  const bool noisy = reach + kDeepest * noise.deviation_m > threshold;
  const BulkVector<float> middles =
      noisy ? layer_middles(points, lattice, planes, noise, ctx) : BulkVector<float>();
  result.ground_class = Column<std::uint8_t>(points.size());
  const UpperGround upper(lattice, cells, threshold, constants, ctx);
  std::atomic<std::uint64_t> ground{0};
  ctx.begin_phase("Classifying points", points.size());
  parallel_for(ctx, points.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t own = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d& p = points.xyz()[i];
      bool is_ground = false;
      if (is_finite(p)) {
        const std::size_t cell = lattice.cell_of(p);
        const float height = lattice.height_of(p);
        const CellPlane& plane = planes[cell];
        const double rise = std::sqrt(plane.gu * plane.gu + plane.gv * plane.gv);  // within one cell
        const double slack = constants.class_slope_share * std::min(rise, rise / lattice.size);
        const double above_lowest = height - cells.point(cell).height;
        const double above = height - blended_height(planes, lattice, p);
        is_ground = std::abs(above) <= threshold + slack ||
                    (noisy && std::abs(above - middles[cell]) <= reach) ||
                    (cells.is_ground(cell) && above_lowest >= 0 &&
                     (above_lowest <= threshold || upper.holds(p, height, cell)));
      }
      result.ground_class[i] =
          static_cast<std::uint8_t>(is_ground ? GroundClass::kGround : GroundClass::kPlant);
      own += is_ground;
    }
    ground.fetch_add(own, std::memory_order_relaxed);
  });
  ground -= drop_points_that_stand_out(points, {lattice, cells, planes, threshold}, constants,
                                       result.ground_class, ctx);
  result.ground_count = ground;
  result.plant_count = points.size() - ground;
}

/// `given`: of the cloud that the points are a part of, or null.
void derive_threshold(const GroundCells& cells, const GroundConstants& constants, const GroundFrame* given,
                      GroundAutoParams& derived, OpContext& ctx) {
  derived.roughness_m = given != nullptr ? given->roughness_m : cells.roughness(ctx);
  const double by_spacing = std::clamp(constants.class_per_spacing * derived.point_spacing_m,
                                       constants.min_class, constants.max_spacing_class);
  derived.class_threshold = std::min(by_spacing + derived.roughness_m, constants.max_class);
}

/// Sets the share of hidden ground, the threshold and the typical number of returns in `result` too. `given`: the frame
/// of the cloud that the points are a part of, or null.
Surface find_surface(HitPoints points, const Lattice& lattice, const LowOutliers& outliers,
                     const GroundConstants& constants, const GroundFrame* given, GroundAutoResult& result,
                     OpContext& ctx) {
  CellLevel level{lattice.nx, lattice.ny, lattice.size, {}, {}};
  level.points =
      lowest_points(points.xyz(), lowest_surface(points.xyz(), lattice, outliers, ctx), outliers, ctx);
  level.ground.resize(lattice.cells());
  const auto known = given != nullptr ? std::optional(given->typical_returns) : std::nullopt;
  result.frame.typical_returns = mark_scattered(points.xyz(), lattice, constants, level, ctx, known);
  find_ground(level, constants, ctx);
  Surface surface;
  surface.cells = std::make_unique<const GroundCells>(lattice, std::move(level));
  const GroundCells& cells = *surface.cells;
  result.hidden_share = result.frame.typical_returns > 0 ? cells.share_without_layer(kSeenWithin, ctx)
                                                         : std::numeric_limits<double>::quiet_NaN();
  derive_threshold(cells, constants, given, result.derived, ctx);
  SurfaceGrid far{lattice, BulkVector<float>(lattice.cells())};
  for (std::size_t cell = 0; cell < lattice.cells(); ++cell) {
    far.height[cell] =
        cells.is_ground(cell) ? cells.point(cell).height : std::numeric_limits<float>::quiet_NaN();
  }
  fill_membrane(far, MembraneDetail::kTwiceTheSize, ctx);  // used only without ground nearby
  surface.planes = cells.planes(far, ctx);
  return surface;
}

/// Layers of returns are as thick as their noise, and the lowest points of cells scatter with it.
GroundConstants constants_of(double noise_m, const GroundAutoParams& derived,
                             const GroundConstants& constants) {
  const double cells_per_spacing = derived.cell_size / derived.point_spacing_m;
  const double depth = expected_depth(cells_per_spacing * cells_per_spacing);
  GroundConstants of_noise = constants;
  of_noise.layer_m = std::max(constants.layer_m, (depth + kMostOfLayer) * noise_m);
  of_noise.scattered_tolerance_m = std::max(constants.scattered_tolerance_m, noise_m);
  return of_noise;
}

/// The surface, and the noise of the cloud in `result.frame`.
Surface surface_with_noise(HitPoints points, const Lattice& lattice, const LowOutliers& outliers,
                           const GroundConstants& constants, GroundAutoResult& result, OpContext& ctx) {
  const GroundAutoParams& derived = result.derived;
  Surface surface = find_surface(points, lattice, outliers, constants, nullptr, result, ctx);
  LayerNoise noise = layer_noise(points, lattice, surface.planes, derived.point_spacing_m, constants, ctx);
  result.frame.search_noise_m = noise.deviation_m;
  if (const GroundConstants of_noise = constants_of(noise.deviation_m, derived, constants);
      of_noise.layer_m > constants.layer_m) {
    surface = find_surface(points, lattice, outliers, of_noise, nullptr, result, ctx);
    const LayerNoise again =
        layer_noise(points, lattice, surface.planes, derived.point_spacing_m, constants, ctx);
    if (again.deviation_m > 0) noise = again;
  }
  result.frame.roughness_m = derived.roughness_m;
  result.frame.noise_m = noise.deviation_m;
  result.frame.middle_m = noise.middle_m;
  return surface;
}

/// The surface with what `result.frame` says.
Surface surface_in_frame(HitPoints points, const Lattice& lattice, const LowOutliers& outliers,
                         const GroundConstants& constants, GroundAutoResult& result, OpContext& ctx) {
  const GroundFrame frame = result.frame;
  const GroundConstants of_noise = constants_of(frame.search_noise_m, result.derived, constants);
  return find_surface(points, lattice, outliers, of_noise.layer_m > constants.layer_m ? of_noise : constants,
                      &frame, result, ctx);
}

/// What is known of the frame of a cloud before its ground is searched for.
GroundFrame frame_of(HitPoints points, const GroundExtent& extent, const LowOutliers& outliers,
                     const GroundConstants& constants, OpContext& ctx) {
  const Lattice& lattice = outliers.lattice;
  const double spacing = lattice.size / std::sqrt(outliers.points_per_cell);
  GroundFrame frame{};
  frame.origin_x = lattice.x_min;
  frame.origin_y = lattice.y_min;
  frame.z_origin = lattice.z_origin;
  frame.slope_x = lattice.slope_x;
  frame.slope_y = lattice.slope_y;
  frame.lowest_z = lowest_z(points, outliers, ctx);
  frame.point_count = static_cast<double>(extent.finite_count);
  frame.point_spacing_m = spacing;
  frame.outlier_cell_m = lattice.size;
  frame.outlier_layer_m = outliers.layer_m;
  frame.cell_size = ground_auto_cell_size(extent, spacing, constants);
  return frame;
}

}  // namespace

double ground_auto_cell_size(const GroundExtent& extent, double point_spacing_m,
                             const GroundConstants& constants) {
  const double ex = extent.box.max.x - extent.box.min.x, ey = extent.box.max.y - extent.box.min.y;
  double size =
      std::clamp(constants.cells_per_spacing * point_spacing_m, constants.min_cell, constants.max_cell);
  while ((ex / size + 4) * (ey / size + 4) > kMaxCells) size *= 1.1;
  return size;
}

GroundAutoResult ground_auto(HitPoints points, const GroundConstants& constants, OpContext& ctx,
                             const GroundFrame* frame) {
  if (frame != nullptr) check_frame(*frame);
  const GroundExtent extent = ground_extent(points, ctx);
  if (extent.finite_count < kFewestPoints) {
    throw Error(ErrorCode::kInvalidArgument, "Need at least " + std::to_string(kFewestPoints) +
                                                 " points, got " + std::to_string(extent.finite_count));
  }
  const LowOutliers outliers = find_low_outliers(points, extent, constants.low, ctx, frame);
  GroundAutoResult result{};
  result.low_outlier_count = outliers.count;
  result.frame = frame != nullptr ? *frame : frame_of(points, extent, outliers, constants, ctx);
  GroundAutoParams& derived = result.derived;
  derived.point_spacing_m = result.frame.point_spacing_m;
  derived.cell_size = result.frame.cell_size;
  check_cells(extent, derived.cell_size);

  ctx.begin_phase("Finding the ground", 0);
  const Lattice lattice =
      lattice_in(frame, extent.box, derived.cell_size, kSurfaceMargin, kFrameBlock, outliers.lattice.plane());
  if (lattice.cells() > kMaxSurfaceCells)
    throw Error(ErrorCode::kInvalidArgument,
                "the extent needs more than 25 M cells of the frame's cell_size");
  const Surface surface = frame != nullptr
                              ? surface_in_frame(points, lattice, outliers, constants, result, ctx)
                              : surface_with_noise(points, lattice, outliers, constants, result, ctx);
  result.noise_m = result.frame.noise_m;
  label(points, lattice, surface, {result.frame.noise_m, result.frame.middle_m}, constants, result, ctx);
  return result;
}

}  // namespace pc
