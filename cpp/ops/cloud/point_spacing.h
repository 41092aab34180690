#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/hit_points.h"
#include "core/op_context.h"

namespace pc {

/// Largest allowed PointSpacingParams::max_samples: limits scratch to about 40 MB.
constexpr std::uint32_t kMaxSpacingSamples = 200'000;

struct PointSpacingParams {
  std::uint32_t max_samples;          ///< points whose nearest neighbour is searched, 1 .. kMaxSpacingSamples
  std::optional<std::uint64_t> seed;  ///< of the sample; none = evenly spaced rows, nothing random
};

struct PointSpacingResult {
  std::optional<double> median_m;  ///< metres; empty if no sampled point has a neighbour
  std::optional<double> p95_m;     ///< metres; empty if median_m is
  /// The same over the samples whose nearest neighbour has another position. If these are fewer than half, as in a
  /// cloud that contains its points twice: over the distances of all samples to the nearest point at another position.
  /// Empty if all points have one position.
  std::optional<double> distinct_median_m, distinct_p95_m;
  std::uint64_t point_count;      ///< points given
  std::uint64_t sampled_count;    ///< sampled points with a neighbour: the statistics are computed from them
  std::uint64_t duplicate_count;  ///< of these, points at distance 0 from another row
  std::vector<std::string> warnings;
};

/// Point spacing: median and 95th percentile of the distance from each point of a sample to its nearest other point.
/// The sample has one row from each of max_samples equal stretches of rows (all rows if there are no more): a random
/// row, or without a seed the first. Neighbours are searched exactly, among all rows.
///
/// points   (n) metres, any one Cartesian frame; n < 2 gives empty statistics. Another row at the same position is a
///          neighbour at distance 0. Rows that are not finite are neither sampled nor neighbours. Points are not
///          neighbours if their squared distance overflows (1e154 m).
/// Order    The result does not depend on threads or device (bit-identical), only on rows, seed and max_samples.
///          Percentiles interpolate linearly between order statistics at rank q (count - 1), as numpy's 'linear'.
/// Cost     With more than one sample per 64 points, on the CPU: a k-d tree of all points, O(n log n) time, 40 n bytes
///          of scratch. Otherwise O(n + samples log n) expected for any distribution and extent of the points; one
///          streaming pass over the points, about 200 bytes per sample + 3 n bytes of scratch.
///          Clouds of duplicates need a k-d tree too.
/// Cancel   Within 250 ms for all allowed parameters; no partial result.
/// Errors   kInvalidArgument if max_samples is 0 or above kMaxSpacingSamples.
/// Device   kCuda runs the streaming passes over the points in pc_cuda; if that is not possible, the CPU does, with a warning.
/// Source   Own: distances within a random subset are upper bounds of the distances in the whole cloud. The expected
///          number of points nearer than the nearest one of a 1/k subset is k - 1 for any distribution, so nested
///          subsets, each about 8 times as large as the previous one, shrink the search balls; see
///          spatial/ball_grid.h.
PointSpacingResult point_spacing(HitPoints points, const PointSpacingParams& params, OpContext& ctx);

}  // namespace pc
