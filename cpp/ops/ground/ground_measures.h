#pragma once
#include "core/hit_points.h"
#include "core/op_context.h"

namespace pc {

/// Measurements from which the parameters of ground filters are derived.
struct GroundMeasures {
  double point_spacing_m;  ///< sqrt(occupied area / points)
  double steepness;        ///< 90th percentile of the slope of the provisional surface, metres per metre
};

/// Measures spacing and relief of the ground. The relief is that of a surface without objects, so tall trees on a plain
/// do not count as relief.
///
/// points   (n) metres, any one Cartesian frame with z up. Rows that are not finite are ignored.
/// Order    Does not depend on threads or the order of the points.
/// Cost     That of find_low_outliers, a pass over the points, and 7 us and 40 bytes per cell; cells of at least 1 m,
///          at most 250 thousand.
/// Cancel   Within 250 ms for any input; no partial result.
/// Errors   kInvalidArgument: fewer than 10 finite points.
/// Source   Surface: Pingel et al. 2013 with slope 0.10 and a window of 25 m. Choice of the measures: own.
GroundMeasures ground_measures(HitPoints points, OpContext& ctx);

}  // namespace pc
