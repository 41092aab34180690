#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/denoise/noise_result.h"

namespace pc {

/// Largest allowed StatisticalOutlierParams::nb_neighbors: limits the scratch of a worker to 256 KiB.
constexpr std::uint32_t kMaxOutlierNeighbors = 1000;

struct StatisticalOutlierParams {
  std::uint32_t nb_neighbors;  ///< number of nearest other points, 1 .. kMaxOutlierNeighbors
  double std_ratio;            ///< standard deviations above the mean that are clean, finite
};

/// Statistical outlier removal: a point is noise if the mean distance to its `nb_neighbors` nearest other points
/// exceeds the mean of these means over the cloud by more than `std_ratio` standard deviations.
///
/// points   (n) metres, any one Cartesian frame. Rows that are not finite are noise and not neighbours of any point. If
///          a point has fewer other points, all of them count; a single point is clean.
/// Order    Labels follow the input; the result does not depend on threads or device (bit-identical). Sums are over
///          fixed blocks of rows, so reordering the rows can change the threshold by rounding.
/// Cost     O(n log n) time, 48 n bytes of scratch.
/// Cancel   Within 250 ms for all allowed parameters; no partial result.
/// Errors   kInvalidArgument for parameters out of range.
/// Device   kCuda measures the distances in pc_cuda, with bit-identical results; if that is not possible, the CPU does,
///          with a warning.
/// Source   Rusu et al. 2008, section 4; the standard deviation has n - 1 in its denominator, as in PCL. The point
///          itself is not one of its neighbours. Mean and deviation are of the whole cloud, so a very distant point
///          raises the threshold for all points: a property of the criterion, not of the search. Where the noise more than doubles
///          the threshold and hides as many other points, a warning says so.
NoiseResult statistical_outlier(HitPoints points, const StatisticalOutlierParams& params, OpContext& ctx);

}  // namespace pc
