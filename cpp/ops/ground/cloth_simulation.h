#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/ground/class_threshold.h"
#include "ops/ground/ground_class.h"
#include "ops/ground/ground_frame.h"

namespace pc {

/// Most particles of a cloth: contract classification section 2.
constexpr std::uint64_t kMaxClothNodes = 25'000'000;
/// Clouds with fewer finite points are rejected.
constexpr std::uint64_t kFewestGroundPoints = 10;

struct ClothSimulationParams {
  double cloth_resolution;           ///< distance of the particles, metres, > 0
  std::uint32_t rigidness;           ///< 1 conforming .. 3 stiff
  double class_threshold;            ///< metres, > 0: a point nearer than this to the settled cloth is ground
  std::uint32_t iterations;          ///< maximum number of time steps, 1 .. 10 000
  bool slope_smooth;                 ///< steep slope fitting after the cloth has settled
  bool auto_class_threshold;         ///< measure the threshold; class_threshold is the fallback
  bool ignore_low_outliers;          ///< leave low outliers out before the cloth drops
  bool want_heights;                 ///< also give the heights above the cloth
  std::uint64_t tile_min_points;     ///< with at least this many points the cloth drops tile by tile
  std::uint64_t tile_target_points;  ///< approximate number of points per tile, > 0
};

/// How a large cloud was divided into tiles.
struct ClothTilePlan {
  std::uint64_t point_count;
  double tile_m, buffer_m;
  std::uint32_t tiles_x, tiles_y;
  std::uint64_t points_per_tile_max;
  double points_per_tile_mean;
};

struct ClothSimulationResult {
  Column<std::uint8_t> ground_class;  ///< (n) GroundClass per point, input order
  Column<float> height_above_cloth;   ///< (n) metres, NaN for points that are not finite; empty unless wanted
  std::uint64_t ground_count;
  std::uint64_t plant_count;
  std::uint64_t low_outlier_count;  ///< points below the ground that the cloth ignored; 0 if it ignores none
  double class_threshold_used;
  ThresholdMethod class_threshold_method;
  std::uint32_t iterations_run;  ///< largest number of any tile
  bool settled;                  ///< false: `iterations` ended the simulation of some tile
  std::uint64_t node_count;
  std::optional<ClothTilePlan> tiled;
  std::vector<std::string> warnings;
};

struct ClothSimulationCost {
  std::uint64_t
      node_count;  ///< (ceil(extent / resolution) + 1)^2 of the larger horizontal extent: at most kMaxClothNodes
  std::uint64_t grid_count;    ///< particles that the cloth would have
  std::uint64_t bytes;         ///< peak memory of the run, in addition to the points
  bool admissible;             ///< node_count <= kMaxClothNodes
  double finest_resolution_m;  ///< finest admissible resolution, rounded up; 0 for an extent of 0
};

/// Size and memory of a cloth over points of `extent_x` by `extent_y` metres.
ClothSimulationCost cloth_simulation_cost(std::uint64_t point_count, double extent_x, double extent_y,
                                          double cloth_resolution);

/// Cloth simulation filter: the cloud is turned upside down and a cloth of particles is dropped on it; points near the
/// settled cloth are ground.
///
/// points   (n) metres, any one Cartesian frame with z up. Rows that are not finite are plants and otherwise ignored.
/// frame    of the cloud that the points are a part of (ground_frame.h), or null
/// Order    Labels follow the input; the result does not depend on threads or the order of the points
///          (bit-identical).
/// Cost     cloth_simulation_cost. 10M points of 50 x 50 m at 0.1 m: 1.4 CPU seconds.
/// Cancel   Within 250 ms for all allowed parameters; no partial result.
/// Device   kCuda rasterises and drops the cloth in pc_cuda; if that is not possible, the CPU does, with a warning.
/// Errors   kInvalidArgument: parameters out of range, fewer than kFewestGroundPoints finite points, more than
///          kMaxClothNodes nodes (the message names the finest resolution that fits).
/// Source   Zhang et al. 2016, Remote Sensing 8, 501. Without ignore_low_outliers and tiles, the labels are those of the
///          authors' published program (time step 0.65) but for rounding. Section 3.1 of the paper requires that low
///          outliers are removed before: ignore_low_outliers does that (low_outliers.h). Tiles share one lattice.
ClothSimulationResult cloth_simulation(HitPoints points, const ClothSimulationParams& params, OpContext& ctx,
                                       const GroundFrame* frame = nullptr);

}  // namespace pc
