#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/denoise/noise_result.h"

namespace pc {

/// Largest admissible ClusterOutlierParams::nb_neighbors and cluster_points: bound scratch and time of a point.
constexpr std::uint32_t kMaxClusterPoints = 64;

struct ClusterOutlierParams {
  std::uint32_t nb_neighbors;  ///< nearest others that tell the spacing round a point, 2 .. kMaxClusterPoints
  double link_factor;          ///< times that spacing two points may lie apart and be linked, finite and > 0
  double max_link_m;           ///< metres that linked points lie apart at most, finite and > 0
  std::uint32_t cluster_points;  ///< a smaller cluster is noise, 1 .. kMaxClusterPoints
};

/// Cluster outlier removal: points are linked when they lie no farther apart than `link_factor` times the spacing round
/// either of them; a point is noise when fewer than `cluster_points` hang together with it, itself counted.
///
/// The spacing round a point is the lower quartile, over its `nb_neighbors` nearest others, of the distance of each to
/// its own second nearest point elsewhere: half of the others may be noise or lie in a sparser part. Spacing follows the
/// distance to the scanner, so far twigs are judged by other lengths than the trunk beside it; a clump of a few points is
/// smaller than any twig, however close they lie.
///
/// points   (n) metres, any one Cartesian frame. Rows that are not finite are noise and nobody's neighbour; another row
///          at the same place is linked. Others as far as the last of the nearest ones all count (up to 256, and the leaf that reaches them).
/// Order    Labels follow the input; the result does not depend on threads (bit-identical).
/// Cost     O(n log n) time, 56 n bytes + 8 per node of scratch. 10M points: 25 CPU-s.
/// Cancel   Within 250 ms at any admissible parameters; no partial result.
/// Errors   kInvalidArgument for parameters outside the stated ranges.
/// Source   Own, made of: a scale for every point from its neighbours (Zelnik-Manor & Perona 2004, section 2.1, who take
///          the distance to the seventh), and clusters by distance of which small ones are outliers (Rusu 2009, section
///          6.2). Both points must be in each other's reach, where the former multiply the two scales.
NoiseResult cluster_outlier(HitPoints points, const ClusterOutlierParams& params, OpContext& ctx);

}  // namespace pc
