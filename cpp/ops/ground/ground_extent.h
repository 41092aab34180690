#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/op_context.h"

namespace pc {

/// Extent of the finite points, and the height that float32 heights are relative to.
struct GroundExtent {
  Box3d box;                   ///< of the finite points; empty if there are none
  std::uint64_t finite_count;  ///< points whose coordinates are all finite
  double z_origin;             ///< metres, near the bulk of the points even if single points are far away
};

/// Measures the extent of the finite points.
///
/// Order    Does not depend on threads or the order of the points.
/// Errors   kInvalidArgument if finite points lie more than 1e12 m apart.
/// Cost     One streaming pass, a second one if the heights span more than 2 km. Cancel within 50 ms.
/// Source   Own: z_origin is the lower edge of the bin (of 65 536) with the 10th percentile of z, so that a stray point
///          does not reduce the precision of float32 heights.
GroundExtent ground_extent(HitPoints points, OpContext& ctx);

}  // namespace pc
