#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/denoise/noise_result.h"

namespace pc {

/// Largest admissible StatisticalOutlierParams::nb_neighbors: bounds the scratch of a worker to 256 KiB.
constexpr std::uint32_t kMaxOutlierNeighbors = 1000;

struct StatisticalOutlierParams {
  std::uint32_t nb_neighbors;  ///< nearest other points looked at, 1 .. kMaxOutlierNeighbors
  double std_ratio;            ///< standard deviations above the mean that are still clean, finite
};

/// Statistical outlier removal: a point is noise when the mean distance to its `nb_neighbors` nearest others
/// exceeds the mean of those means over the cloud by more than `std_ratio` standard deviations.
///
/// points   (n) metres, any one Cartesian frame. Rows that are not finite are noise and nobody's neighbour;
///          where there are fewer others, all of them count; a lone point is clean.
/// Order    Labels follow the input; the result does not depend on threads or device (bit-identical). Sums run over the
///          rows in fixed blocks, so another order of the rows can move the threshold by rounding.
/// Cost     O(n log n) time, 48 n bytes of scratch.
/// Cancel   Within 250 ms at any admissible parameters; no partial result.
/// Errors   kInvalidArgument for parameters outside the stated ranges.
/// Device   kCuda measures the distances in pc_cuda, with the same bits; where that cannot be, on the CPU, with a warning.
/// Source   Rusu et al. 2008, section 4; the standard deviation has n - 1 in its denominator, as in PCL. The
///          point itself is not one of its neighbours. Mean and deviation are of the whole cloud, so a point
///          very far away raises the threshold for all: that is the criterion, not the search.
NoiseResult statistical_outlier(HitPoints points, const StatisticalOutlierParams& params, OpContext& ctx);

}  // namespace pc
