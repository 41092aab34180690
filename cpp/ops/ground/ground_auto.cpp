#include "ops/ground/ground_auto.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>

#include "core/parallel.h"
#include "ops/ground/ground_cells.h"
#include "ops/ground/ground_search.h"
#include "ops/ground/return_layer.h"
#include "ops/ground/upper_ground.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr std::uint64_t kFewestPoints = 10;
constexpr double kMaxCells = 16e6;
constexpr double kLargestCell = 16;
constexpr double kSeenWithin = 1;  // metres: between plants as wide as that, ground is seen on some side

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
                  " m, the ground filter works up to 16 m; crop the cloud or remove the points far away");
}

/// Bilinear blend of the planes of the four cells around a point.
float blended_height(const BulkVector<CellPlane>& planes, const Lattice& lattice, const Vec3d& p) {
  const LatticePatch at = lattice.patch_of(p);
  const float fu = at.fu, fv = at.fv;
  const CellPlane* const low = planes.data() + at.j * std::size_t{lattice.nx} + at.i;
  const CellPlane* const high = low + lattice.nx;
  const float a = (1 - fu) * low[0].at(fu, fv) + fu * low[1].at(fu - 1, fv);
  const float b = (1 - fu) * high[0].at(fu, fv - 1) + fu * high[1].at(fu - 1, fv - 1);
  return (1 - fv) * a + fv * b;
}

void label(HitPoints points, const Lattice& lattice, const GroundCells& cells,
           const BulkVector<CellPlane>& planes, const GroundConstants& constants, GroundAutoResult& result,
           OpContext& ctx) {
  result.ground_class = Column<std::uint8_t>(points.size());
  const double threshold = result.derived.class_threshold;
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
        is_ground = std::abs(height - blended_height(planes, lattice, p)) <= threshold + slack ||
                    (cells.is_ground(cell) && above_lowest >= 0 &&
                     (above_lowest <= threshold || upper.holds(p, height, cell)));
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

void derive_threshold(const GroundCells& cells, const GroundConstants& constants, GroundAutoParams& derived,
                      OpContext& ctx) {
  derived.roughness_m = cells.roughness(ctx);
  const double by_spacing = std::clamp(constants.class_per_spacing * derived.point_spacing_m,
                                       constants.min_class, constants.max_spacing_class);
  derived.class_threshold = std::min(by_spacing + derived.roughness_m, constants.max_class);
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

GroundAutoResult ground_auto(HitPoints points, const GroundConstants& constants, OpContext& ctx) {
  const GroundExtent extent = ground_extent(points, ctx);
  if (extent.finite_count < kFewestPoints) {
    throw Error(ErrorCode::kInvalidArgument, "Need at least " + std::to_string(kFewestPoints) +
                                                 " points, got " + std::to_string(extent.finite_count));
  }
  const LowOutliers outliers = find_low_outliers(points, extent, constants.low, ctx);
  GroundAutoResult result{};
  result.low_outlier_count = outliers.count;
  GroundAutoParams& derived = result.derived;
  derived.point_spacing_m = outliers.lattice.size / std::sqrt(outliers.points_per_cell);
  derived.cell_size = ground_auto_cell_size(extent, derived.point_spacing_m, constants);
  check_cells(extent, derived.cell_size);

  ctx.begin_phase("Finding the ground", 0);
  const Lattice lattice =
      lattice_over(extent.box, derived.cell_size, kSurfaceMargin, outliers.lattice.plane());
  CellLevel level{lattice.nx, lattice.ny, lattice.size, {}, {}};
  level.points =
      lowest_points(points.xyz(), lowest_surface(points.xyz(), lattice, outliers, ctx), outliers, ctx);
  level.ground.resize(lattice.cells());
  const bool dense = mark_scattered(points.xyz(), lattice, constants, level, ctx);
  find_ground(level, constants, ctx);
  const GroundCells cells(lattice, std::move(level));
  result.hidden_share =
      dense ? cells.share_without_layer(kSeenWithin, ctx) : std::numeric_limits<double>::quiet_NaN();
  derive_threshold(cells, constants, derived, ctx);
  SurfaceGrid far{lattice, BulkVector<float>(lattice.cells())};
  for (std::size_t cell = 0; cell < lattice.cells(); ++cell) {
    far.height[cell] =
        cells.is_ground(cell) ? cells.point(cell).height : std::numeric_limits<float>::quiet_NaN();
  }
  fill_membrane(far, MembraneDetail::kTwiceTheSize, ctx);  // used only without ground nearby
  label(points, lattice, cells, cells.planes(far, ctx), constants, result, ctx);
  return result;
}

}  // namespace pc
