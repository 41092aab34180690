#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/denoise/noise_result.h"

namespace pc {

struct RadiusOutlierParams {
  double radius_m;          ///< search radius, metres, finite and > 0
  std::uint32_t nb_points;  ///< other points that a clean point has within it
};

/// Radius outlier removal: a point with fewer than `nb_points` others within `radius_m` is noise.
///
/// points   (n) metres, any one Cartesian frame; n == 0 gives an empty column. Rows that are not finite are noise and
///          not neighbours of any point; another row at the same position is a neighbour.
/// Order    Labels follow the input; the result does not depend on threads or device (bit-identical).
/// Cost     O(n log n) time, 40 n bytes of scratch. Boxes that lie entirely within the radius are counted as a whole,
///          so a radius as large as the cloud costs no more.
/// Cancel   Within 250 ms for all allowed parameters; no partial result.
/// Errors   kInvalidArgument if radius_m is not finite and positive.
/// Device   kCuda searches the tree in pc_cuda, with bit-identical results; if that is not possible, the CPU does,
///          with a warning.
/// Source   PCL RadiusOutlierRemoval (Rusu & Cousins 2011); here the boundary is inclusive: squared distance
///          <= radius_m * radius_m in float64.
NoiseResult radius_outlier(HitPoints points, const RadiusOutlierParams& params, OpContext& ctx);

}  // namespace pc
