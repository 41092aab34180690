#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "ops/trees/convex_polygon.h"
#include "ops/trees/stem_curve.h"

namespace pc {

struct CrownMeasureParams {
  double voxel_size_m;        ///< edge of the cubes of the volume
  double gap_m;               ///< empty height that ends the crown
  double bin_m;               ///< of the histogram of heights
  double occupancy_fraction;  ///< of the fullest bin: fewer points count as empty
};

/// The points of a tree that are not stem. Values that cannot be measured are NaN.
struct CrownMeasures {
  std::uint64_t point_count = 0;
  double base_height_m;  ///< above the ground at the stem's base
  ConvexPolygon hull;    ///< seen from above; fewer than 3 corners = none, at most 720
  double projected_area_m2;
  double area_gain_m2;                  ///< by how much more the crown is thought to cover: hull_gain
  double max_width_m, perp_width_m;     ///< widest width of the hull, and its width at right angles to it
  double offset_m, offset_azimuth_deg;  ///< of the hull's centroid from the stem's base
  double eccentricity;                  ///< of the ellipse with the hull's second moments, 0 = round
  double voxel_volume_m3;               ///< cubes with a point, of a lattice fixed to the coordinates
  double cube_volume_m3;                ///< the same with cubes of kCrownCube
  double depth_m;                       ///< of the layers, half a metre thick, with five such cubes or more
};
constexpr double kCrownCube = 0.1;  // metres

/// By how much a convex region is larger than the hull of n points spread evenly over it, in the mean, as a part of the hull:
/// c / (n + 1 - c) with c corners. Source: Ripley & Rasson 1977, J. Appl. Prob. 14, 483, from Efron 1965.
double hull_gain(std::size_t corners, std::size_t points);

/// Measures the crown of a tree.
///
/// points   (n) of the tree, metres
/// Stem     A point is stem if it is closer to the axis than the stem's radius there and another max(0.1 m, half of it).
///          Without a stem every point is crown.
/// Base     From the fullest bins downwards to the first empty stretch of gap_m; within it, the lowest bin with points on
///          three of four sides of the axis.
/// Cost     O(n log n) time, 32 bytes per point. Cancel within 50 ms.
CrownMeasures measure_crown(Span<const Vec3d> points, const Stem& stem, const CrownMeasureParams& params,
                            OpContext& ctx);

}  // namespace pc
