#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/denoise/noise_result.h"
#include "ops/denoise/radius_outlier.h"
#include "ops/denoise/voxel_count.h"

namespace pc {

/// Square tiles over x and y. The outermost tiles extend without limit.
struct TilePlan {
  double tile_m;    ///< edge of a tile
  double buffer_m;  ///< width of the collar, whose points are used but not labelled
  std::uint64_t nx, ny;
  std::uint64_t tiles;                ///< number of tiles with points
  std::uint64_t points_per_tile_max;  ///< collars included
  double points_per_tile_mean;        ///< collars included
};

struct TiledNoiseResult {
  NoiseResult noise;
  TilePlan plan;
};

/// radius_outlier and voxel_count tile by tile, with bit-identical labels: a tile includes every point that can affect
/// the labels it assigns. The edge is chosen for about `target_points` points per tile over the central 99.8 % of a
/// sample, so a distant point adds no tiles.
///
/// points         (n) metres
/// target_points  > 0
/// Order          Labels follow the input; the result does not depend on threads or tiles (bit-identical).
/// Cost           8 n bytes and what the op needs for one tile; same time as untiled.
/// Cancel         Within 250 ms; no partial result.
/// Errors         Those of the op; kInvalidArgument if target_points is 0.
/// Source         contract classification section 3, "Tiling"; collar = radius, or the edge of a voxel.
TiledNoiseResult radius_outlier_tiled(HitPoints points, const RadiusOutlierParams& params,
                                      std::uint64_t target_points, OpContext& ctx);
TiledNoiseResult voxel_count_tiled(HitPoints points, const VoxelCountParams& params,
                                   std::uint64_t target_points, OpContext& ctx);

}  // namespace pc
