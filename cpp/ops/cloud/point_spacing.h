#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/hit_points.h"
#include "core/op_context.h"

namespace pc {

/// Largest admissible PointSpacingParams::max_samples: bounds scratch to about 40 MB.
constexpr std::uint32_t kMaxSpacingSamples = 200'000;

struct PointSpacingParams {
  std::uint32_t max_samples;          ///< points whose neighbour is looked for, 1 .. kMaxSpacingSamples
  std::optional<std::uint64_t> seed;  ///< of the sample; none = evenly spaced rows, nothing drawn
};

struct PointSpacingResult {
  std::optional<double> median_m;  ///< metres; empty when no sampled point has a neighbour
  std::optional<double> p95_m;     ///< metres; empty with median_m
  /// The same over the samples whose nearest other row lies elsewhere; empty when there is none.
  std::optional<double> distinct_median_m, distinct_p95_m;
  std::uint64_t point_count;      ///< points given
  std::uint64_t sampled_count;    ///< sampled points with a neighbour: what the statistics are made from
  std::uint64_t duplicate_count;  ///< of those, points at distance 0 of another row
  std::vector<std::string> warnings;
};

/// Point spacing: median and 95th percentile of the distance from a random sample of the points to their
/// nearest other point. The sample has one row from each of max_samples equal stretches of rows (all rows when
/// there are no more), a random one or, without a seed, the first; its neighbours are looked for among all rows, exactly.
///
/// points   (n) metres, any one Cartesian frame; n < 2 gives empty statistics. Another row at the same place
///          is a neighbour at distance 0 and counts. Rows that are not finite are neither sampled nor
///          neighbours. Points so far apart that the squared distance overflows (1e154 m) are no neighbours.
/// Order    The result does not depend on threads or device (bit-identical), only on rows, seed and
///          max_samples. Percentiles interpolate linearly between order statistics at rank q (count - 1), as
///          numpy's 'linear'.
/// Cost     With more than one sample in 64 points on the CPU a k-d tree of all points: O(n log n) time, 40 n bytes of
///          scratch. Else O(n + samples log n) expected for any distribution of the points, their extent included; one
///          streaming pass over the points, about 200 bytes per sample + 3 n bytes of scratch.
/// Cancel   Within 250 ms at any admissible parameters; no partial result.
/// Errors   kInvalidArgument when max_samples is 0 or above kMaxSpacingSamples.
/// Device   kCuda runs the passes over the points in pc_cuda; where that cannot be, on the CPU, with a
///          warning.
/// Source   Own: distances in a random subset bound the distances in the whole (the expected number of points
///          nearer than the nearest one of a 1/k subset is k - 1 whatever the distribution), so nested
///          subsets, each about 8 times the one before, shrink the balls to search; see spatial/ball_grid.h.
PointSpacingResult point_spacing(HitPoints points, const PointSpacingParams& params, OpContext& ctx);

}  // namespace pc
