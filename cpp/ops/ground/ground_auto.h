#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/ground/ground_class.h"
#include "ops/ground/ground_constants.h"
#include "ops/ground/ground_extent.h"
#include "ops/ground/ground_frame.h"

namespace pc {

/// Measurements of a cloud by ground_auto, and the parameters derived from them.
struct GroundAutoParams {
  double point_spacing_m;  ///< sqrt(occupied area / points)
  double roughness_m;      ///< robust standard deviation of ground cells about their neighbours
  double cell_size;        ///< metres
  double class_threshold;  ///< metres from the surface; on slopes 1.4 times the rise within a cell is added
};

struct GroundAutoResult {
  Column<std::uint8_t> ground_class;  ///< (n) GroundClass per point, input order
  std::uint64_t ground_count;
  std::uint64_t plant_count;
  std::uint64_t low_outlier_count;
  double
      hidden_share;  ///< of the cells with points: no layer of ground returns within 1 m (return_layer.h); NaN = the
                     ///< cloud is too thin to tell
  double noise_m;  ///< standard deviation of the returns of bare ground (layer_noise.h); 0 = not measured
  GroundAutoParams derived;
  GroundFrame frame;  ///< the given one, or that of this cloud
};

/// Cell size for points of this spacing: 0.85 of it, 0.25 to 5 m, larger if the extent would need more than 16 M cells.
double ground_auto_cell_size(const GroundExtent& extent, double point_spacing_m,
                             const GroundConstants& constants);

/// Ground filter without parameters, for airborne, drone and terrestrial clouds.
///
/// The lowest point of every cell is either ground or not. This is decided level by level, from cells of at least 16 m
/// to the finest, using the surface through the ground of the previous level (ground_search.h). In dense clouds, a cell
/// whose returns form no layer is ground only close to that surface (return_layer.h). A point is ground if it
/// lies near the blended planes of the ground cells around it, or at most the threshold above its cell's lowest point
/// if that is ground, or on a face or the edge of a terrace above it (upper_ground.h). In dense clouds the noise of the
/// ground is measured (layer_noise.h): points within 3 deviations of the middle of its layer are ground too, and the
/// search is repeated if layers are thicker than it assumed. Points that stand out of the ground around them are taken
/// out again (stand_out.h).
///
///     spacing s     sqrt(area of occupied cells / points)
///     cell          clamp(0.85 s, 0.25, 5) m; larger where 16 M cells would be exceeded
///     roughness     robust deviation of ground cells from the planes of their neighbours
///     class         clamp(0.25 s, 0.05, 0.3) m + roughness, at most 0.5 m; on slopes plus 1.4 times the rise
///                   within a cell, or within 1 m if cells are larger
///
/// The constants were chosen with the clouds of docs/accuracy.md, which states their influence; all callers but its
/// measurements pass kGroundConstants.
///
/// points   (n) metres, any one Cartesian frame with z up. Rows that are not finite are plants and otherwise ignored.
/// frame    of the cloud that the points are a part of (ground_frame.h), or null: measured
/// Order    Labels follow the input; the result does not depend on threads or the order of the points
///          (bit-identical).
/// Cost     O(n) and about 2 us per cell that holds points, 4 us with noise of several cm; 60 bytes per cell.
/// Cancel   Within 250 ms for any input; no partial result.
/// Errors   kInvalidArgument: fewer than 10 finite points, an extent that needs cells of more than 16 m (64 km by 64
///          km).
/// Source   ground_search.h. Derivation of the parameters: own.
GroundAutoResult ground_auto(HitPoints points, const GroundConstants& constants, OpContext& ctx,
                             const GroundFrame* frame = nullptr);

}  // namespace pc
