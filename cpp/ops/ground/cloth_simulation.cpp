#include "ops/ground/cloth_simulation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>

#include "core/parallel.h"
#include "ops/ground/cloth_drop.h"
#include "ops/ground/low_outliers.h"
#include "ops/ground/slope_smoothing.h"
#include "ops/ground/terrain_grid.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr double kCollarCells = 30, kMinCollar = 2, kMaxCollar = 30;  // cells; metres
constexpr double kLongNumber = 1e15;  // from here on doubles are too coarse for decimals

std::string text_of(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, value < kLongNumber ? "%.*f" : "%.*e", decimals, value);
  return text;
}

/// Number of decimals, at least two, that shows a length to two significant digits or better.
int decimals_of(double value) {
  return value > 0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(value))), 2, 9) : 2;
}

double nodes_of(double extent, double resolution) {
  const double along = std::ceil(extent / resolution) + 1;
  return along * along;
}

void check_parameters(const ClothSimulationParams& params) {
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  require(positive(params.cloth_resolution), "cloth_resolution must be finite and above 0");
  require(positive(params.class_threshold), "class_threshold must be finite and above 0");
  require(params.rigidness >= 1 && params.rigidness <= 3, "rigidness must be 1, 2 or 3");
  require(params.iterations >= 1 && params.iterations <= 10'000, "iterations must be 1 to 10000");
  require(params.tile_target_points > 0, "tile_target_points must be above 0");
}

GroundExtent checked_extent(HitPoints points, const ClothSimulationParams& params, OpContext& ctx) {
  const GroundExtent extent = ground_extent(points, ctx);
  if (extent.finite_count < kFewestGroundPoints) {
    throw Error(ErrorCode::kInvalidArgument, "Need at least " + std::to_string(kFewestGroundPoints) +
                                                 " points, got " + std::to_string(extent.finite_count));
  }
  const double ex = extent.box.max.x - extent.box.min.x, ey = extent.box.max.y - extent.box.min.y;
  const ClothSimulationCost cost =
      cloth_simulation_cost(extent.finite_count, ex, ey, params.cloth_resolution);
  if (!cost.admissible) {
    const double finest = cost.finest_resolution_m;
    throw Error(ErrorCode::kInvalidArgument,
                "cloth_resolution " + text_of(params.cloth_resolution, decimals_of(params.cloth_resolution)) +
                    " needs " + text_of(nodes_of(std::max(ex, ey), params.cloth_resolution) / 1e6, 1) +
                    " M cloth nodes for an extent of " + text_of(std::max(ex, ey), 1) + " m (limit 25 M); " +
                    text_of(finest, decimals_of(finest)) + " is the finest that fits");
  }
  return extent;
}

/// Tiles of a lattice: the core of tile (i, j) has `core` by `core` cells; its window extends by `collar` cells on each
/// side.
struct Tiles {
  std::uint32_t core, collar, across, down;
};

Tiles tiles_of(const Lattice& lattice, const GroundExtent& extent, const ClothSimulationParams& params) {
  const std::uint32_t longest = std::max(lattice.nx, lattice.ny);
  if (extent.finite_count < params.tile_min_points) return {longest, 0, 1, 1};
  const double ex = extent.box.max.x - extent.box.min.x, ey = extent.box.max.y - extent.box.min.y;
  const double share =
      static_cast<double>(params.tile_target_points) / static_cast<double>(extent.finite_count);
  const double tile = std::sqrt(std::max(ex * ey, 1e-12) * share);
  const double collar = std::clamp(kCollarCells * params.cloth_resolution, kMinCollar, kMaxCollar);
  // A core smaller than its collar would make the tile mostly collar.
  const double cells = std::max({tile, collar, 8 * params.cloth_resolution}) / params.cloth_resolution;
  const auto core = static_cast<std::uint32_t>(std::min<double>(longest, std::ceil(cells)));
  return {core, static_cast<std::uint32_t>(std::ceil(collar / params.cloth_resolution)),
          (lattice.nx + core - 1) / core, (lattice.ny + core - 1) / core};
}

struct SettledCloth {
  BulkVector<float> height;
  std::uint32_t iterations;
  bool settled;
};

SettledCloth drop_tiles(const TerrainGrid& terrain, const Tiles& tiles, const ClothSimulationParams& params,
                        GpuRun& gpu, OpContext& ctx) {
  const Lattice& lattice = terrain.lattice;
  const ClothDropParams drop{params.rigidness, params.iterations, cloth_kernel::kStartAbove};
  const std::size_t tile_count = static_cast<std::size_t>(tiles.across) * tiles.down;
  ctx.begin_phase("Dropping the cloth", 0);  // the number of steps until it settles is unknown
  SettledCloth cloth{{}, 0, true};
  if (tile_count > 1) cloth.height.resize(lattice.cells());
  for (std::size_t tile = 0; tile < tile_count; ++tile) {
    const auto i = static_cast<std::uint32_t>(tile % tiles.across);
    const auto j = static_cast<std::uint32_t>(tile / tiles.across);
    const std::uint32_t x = i * tiles.core, y = j * tiles.core;
    const std::uint32_t x_end = std::min(lattice.nx, x + tiles.core),
                        y_end = std::min(lattice.ny, y + tiles.core);
    const std::uint32_t from_x = x > tiles.collar ? x - tiles.collar : 0;
    const std::uint32_t from_y = y > tiles.collar ? y - tiles.collar : 0;
    const TerrainWindow window{terrain.height.data() + from_y * std::size_t{lattice.nx} + from_x, lattice.nx,
                               std::min(lattice.nx, x_end + tiles.collar) - from_x,
                               std::min(lattice.ny, y_end + tiles.collar) - from_y};
    DroppedCloth piece = drop_cloth(window, drop, gpu, ctx);
    cloth.iterations = std::max(cloth.iterations, piece.iterations);
    cloth.settled &= piece.settled;
    if (tile_count == 1) {
      cloth.height = std::move(piece.height);
      break;
    }
    for (std::uint32_t row = y; row < y_end; ++row) {
      const float* const piece_row =
          piece.height.data() + (row - from_y) * std::size_t{window.nx} + (x - from_x);
      std::copy(piece_row, piece_row + (x_end - x), cloth.height.data() + row * std::size_t{lattice.nx} + x);
    }
  }
  return cloth;
}

ClothTilePlan plan_of(HitPoints points, const Lattice& lattice, const Tiles& tiles, OpContext& ctx) {
  const std::size_t tile_count = static_cast<std::size_t>(tiles.across) * tiles.down;
  const auto workers = static_cast<std::size_t>(ctx.threads());
  std::vector<std::vector<std::uint64_t>> counts(workers, std::vector<std::uint64_t>(tile_count));
  parallel_for_worker(ctx, points.size(), kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    std::vector<std::uint64_t>& own = counts[static_cast<std::size_t>(worker)];
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_finite(points.xyz()[i])) continue;
      const std::size_t cell = lattice.cell_of(points.xyz()[i]);
      own[cell / lattice.nx / tiles.core * tiles.across + cell % lattice.nx / tiles.core] += 1;
    }
  });
  std::uint64_t most = 0, all = 0;
  for (std::size_t tile = 0; tile < tile_count; ++tile) {
    std::uint64_t sum = 0;
    for (const auto& own : counts) sum += own[tile];
    most = std::max(most, sum);
    all += sum;
  }
  return {all,
          tiles.core * lattice.size,
          tiles.collar * lattice.size,
          tiles.across,
          tiles.down,
          most,
          static_cast<double>(all) / static_cast<double>(tile_count)};
}

Column<float> heights_above(HitPoints points, const Lattice& lattice, const BulkVector<float>& cloth,
                            OpContext& ctx) {
  Column<float> heights(points.size());
  ctx.begin_phase("Measuring heights above the cloth", points.size());
  parallel_for(ctx, points.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d& p = points.xyz()[i];
      heights[i] = is_finite(p) ? lattice.height_of(p) - cloth_kernel::cloth_height(lattice, cloth.data(), p)
                                : std::numeric_limits<float>::quiet_NaN();
    }
  });
  return heights;
}

/// Measures the threshold without low outliers: a single point far below would shift every bin.
ClassThreshold threshold_of(HitPoints points, const Column<float>& heights, const LowOutliers& outliers,
                            const ClothSimulationParams& params, OpContext& ctx) {
  if (!params.auto_class_threshold) return {params.class_threshold, ThresholdMethod::kManual};
  BulkVector<std::uint8_t> ignored;
  if (outliers.count > 0) {
    ignored.resize(points.size());
    parallel_for(ctx, ignored.size(), kGrain,
                 [&, floor = outliers.view()](std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i) {
                     const Vec3d& p = points.xyz()[i];
                     ignored[i] = is_finite(p) && floor.below(p) ? 1 : 0;
                   }
                 });
  }
  return measure_class_threshold(heights.view(), ignored.view(), params.cloth_resolution,
                                 params.class_threshold, ctx);
}

void label(const Column<float>& heights, double threshold_m, ClothSimulationResult& result, OpContext& ctx) {
  result.ground_class = Column<std::uint8_t>(heights.size());
  const auto limit = static_cast<float>(threshold_m);
  std::atomic<std::uint64_t> ground{0};
  parallel_for(ctx, heights.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t own = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const bool is_ground = std::abs(heights[i]) < limit;
      result.ground_class[i] =
          static_cast<std::uint8_t>(is_ground ? GroundClass::kGround : GroundClass::kPlant);
      own += is_ground;
    }
    ground.fetch_add(own, std::memory_order_relaxed);
  });
  result.ground_count = ground;
  result.plant_count = heights.size() - ground;
}

}  // namespace

ClothSimulationCost cloth_simulation_cost(std::uint64_t point_count, double extent_x, double extent_y,
                                          double cloth_resolution) {
  const double extent = std::max(extent_x, extent_y);
  ClothSimulationCost cost{};
  const double nodes = nodes_of(extent, cloth_resolution);
  cost.admissible = nodes <= static_cast<double>(kMaxClothNodes);
  cost.node_count = static_cast<std::uint64_t>(std::min(nodes, 1e18));
  const double nx = std::floor(extent_x / cloth_resolution) + 4,
               ny = std::floor(extent_y / cloth_resolution) + 4;
  cost.grid_count = static_cast<std::uint64_t>(std::min(nx * ny, 1e18));
  const std::uint64_t outlier_cells = std::min<std::uint64_t>(kMaxClothNodes, 4 * point_count + 1024);
  const std::uint64_t cloth_bytes =
      cost.admissible ? cloth_drop_bytes(static_cast<std::uint32_t>(nx), static_cast<std::uint32_t>(ny)) : 0;
  cost.bytes =
      cloth_bytes + 16 * std::min(cost.grid_count, 2 * kMaxClothNodes) + 22 * outlier_cells + 9 * point_count;
  const double finest = extent / (std::sqrt(static_cast<double>(kMaxClothNodes)) - 1);
  const double shown = finest < kLongNumber ? 0 : std::floor(std::log10(finest));
  const double unit = std::pow(10.0, shown - decimals_of(finest));
  double rounded = std::ceil(finest / unit) * unit;
  while (finest > 0 && nodes_of(extent, std::stod(text_of(rounded, decimals_of(finest)))) >
                           static_cast<double>(kMaxClothNodes)) {
    rounded += unit;
  }
  cost.finest_resolution_m = finest > 0 ? std::stod(text_of(rounded, decimals_of(finest))) : 0;
  return cost;
}

ClothSimulationResult cloth_simulation(HitPoints points, const ClothSimulationParams& params, OpContext& ctx,
                                       const GroundFrame* frame) {
  check_parameters(params);
  if (frame != nullptr) check_frame(*frame);
  const GroundExtent extent = checked_extent(points, params, ctx);
  ClothSimulationResult result{};
  const LowOutliers outliers = params.ignore_low_outliers
                                   ? find_low_outliers(points, extent, kGroundConstants.low, ctx, frame)
                                   : LowOutliers{{}, {}, 0, 0, 0};
  result.low_outlier_count = outliers.count;

  // Heights are relative to the lowest point: float32 then has its finest steps at the ground.
  const LatticePlane level{frame != nullptr ? frame->lowest_z : lowest_z(points, outliers, ctx), 0, 0};
  const Lattice lattice = lattice_in(frame, extent.box, params.cloth_resolution, kClothMargin, 2, level);
  result.node_count = lattice.cells();
  const Tiles tiles = tiles_of(lattice, extent, params);
  if (extent.finite_count >= params.tile_min_points) result.tiled = plan_of(points, lattice, tiles, ctx);
  GpuRun gpu(ctx, "Cloth simulation", result.warnings);
  ctx.begin_phase("Rasterising the terrain", 0);
  TerrainGrid terrain = rasterize_terrain(points.xyz(), lattice, outliers, gpu, ctx);
  SettledCloth cloth = drop_tiles(terrain, tiles, params, gpu, ctx);
  result.iterations_run = cloth.iterations;
  result.settled = cloth.settled;
  if (params.slope_smooth) {
    ctx.begin_phase("Fitting steep slopes", 0);
    fit_steep_slopes(lattice, terrain.height.view(), cloth.height.view(), ctx);
  }
  terrain.height.reset();

  Column<float> heights = heights_above(points, lattice, cloth.height, ctx);
  cloth.height.reset();
  const ClassThreshold threshold = threshold_of(points, heights, outliers, params, ctx);
  result.class_threshold_used = threshold.value_m;
  result.class_threshold_method = threshold.method;
  label(heights, threshold.value_m, result, ctx);
  if (params.want_heights) result.height_above_cloth = std::move(heights);
  return result;
}

}  // namespace pc
