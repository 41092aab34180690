#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/denoise/noise_result.h"

namespace pc {

struct RadiusOutlierParams {
  double radius_m;          ///< search radius, metres, finite and > 0
  std::uint32_t nb_points;  ///< other points needed within it
};

/// Radius outlier removal: a point with fewer than `nb_points` others within `radius_m` is noise.
///
/// points   (n) metres, any one Cartesian frame; n == 0 gives an empty column. Rows that are not finite are
///          noise and nobody's neighbour; another row at the same place is a neighbour.
/// Order    Labels follow the input; the result does not depend on threads or device (bit-identical).
/// Cost     O(n log n) time, 40 n bytes of scratch; boxes of points that lie within the radius altogether are
///          counted, not looked at, so a radius as large as the cloud costs no more.
/// Cancel   Within 250 ms at any admissible parameters; no partial result.
/// Errors   kInvalidArgument when radius_m is not finite and positive.
/// Device   kCuda searches the tree in pc_cuda, with the same bits; where that cannot be, on the CPU, with a warning.
/// Source   PCL RadiusOutlierRemoval (Rusu & Cousins 2011); here the boundary is inclusive: squared distance
///          <= radius_m * radius_m in float64.
NoiseResult radius_outlier(HitPoints points, const RadiusOutlierParams& params, OpContext& ctx);

}  // namespace pc
