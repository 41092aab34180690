#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/ground/ground_class.h"

namespace pc {

/// What ground_auto measures in a cloud, and the parameters that it derives from that.
struct GroundAutoParams {
  double point_spacing_m;  ///< sqrt(occupied area / points)
  double roughness_m;     ///< robust standard deviation of ground cells about their neighbours
  double cell_size;       ///< metres
  double class_threshold;  ///< metres off the surface, 1.8 of the slope within a cell on top
};

struct GroundAutoResult {
  Column<std::uint8_t> ground_class;  ///< (n) GroundClass per point, input order
  std::uint64_t ground_count;
  std::uint64_t plant_count;
  std::uint64_t low_outlier_count;
  GroundAutoParams derived;
};

/// Ground filter without parameters, for airborne, drone and terrestrial clouds.
///
/// A morphological filter finds seeds: cells of a coarse surface that no object stands on (smrf.h). Fine cells near that
/// surface are ground; others join when their lowest point lies near the plane through the ground around
/// them, and leave when it does not. Points near the blended planes are ground, and so is a ground cell's
/// lowest point.
///
///     spacing s     sqrt(area of occupied cells / points)
///     cell          clamp(0.85 s, 0.25, 5) m; seeds on cells of at least 1 m; larger where 16 M cells would be exceeded
///     steepness g   90th percentile of the slope of the surface of a first opening (slope 0.10, window 25 m);
///                   t = clamp((g - 0.3) / 0.5, 0, 1)
///     opening       slope 0.10 + 0.06 t
///     growth        8 rounds, 4 roughnesses clamped to 0.05 .. 0.5 m; where t > 0 also between higher and lower ground
///     class         clamp(0.25 s, 0.05, 0.3) m + roughness, at most 0.5 m
///
/// The constants were chosen on the clouds of docs/accuracy.md; slope, window and thresholds start at those of the
/// papers.
///
/// points   (n) metres, any one Cartesian frame with z up. Rows that are not finite are plants and otherwise unseen.
/// Order    Labels follow the input; the result does not depend on threads or the order of the points
///          (bit-identical).
/// Cost     O(n) and about 2 us a cell; 40 bytes a cell.
/// Cancel   Within 250 ms at any input; no partial result.
/// Errors   kInvalidArgument: fewer than 10 finite points.
/// Source   Seeds: Pingel et al. 2013. Growth: Axelsson 2000 (progressive densification), with planes of cells in the
///          place of facets of a triangulation. Derivation of the parameters: own.
GroundAutoResult ground_auto(HitPoints points, OpContext& ctx);

}  // namespace pc
