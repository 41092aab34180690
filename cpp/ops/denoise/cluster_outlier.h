#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/denoise/noise_result.h"

namespace pc {

/// Largest admissible ClusterOutlierParams::nb_neighbors and cluster_points: bound scratch and time of a point.
constexpr std::uint32_t kMaxClusterPoints = 64;

struct ClusterOutlierParams {
  std::uint32_t
      nb_neighbors;    ///< k, the nearest others that the local spacing is made from, 2 .. kMaxClusterPoints
  double link_factor;  ///< times the local spacing = longest link, finite and > 0
  double max_link_m;   ///< metres, bound of the longest link, finite and > 0
  std::uint32_t cluster_points;  ///< a cluster of fewer is noise, 1 .. kMaxClusterPoints
};

/// Cluster outlier removal: points that lie close together are linked, and the points of small clusters are noise.
///
/// Distance  s(p) of a point is the distance to its second nearest point elsewhere, among its k nearest others; where
///           only one of these lies elsewhere, the distance to that one.
/// Spacing   The local spacing of p is the lower quartile of s(q) over the k nearest others q of p: half of these may be
///           noise or lie in a sparser part.
/// Link      reach(p) = min(max_link_m, link_factor * local spacing of p). Two points p and q are linked when their
///           distance is at most min(reach(p), reach(q)).
/// Cluster   Points that links join, directly or through others. A point is noise when its cluster has fewer than
///           `cluster_points` points.
///
/// Spacing grows with the distance to the scanner, so far twigs are judged by other lengths than the trunk beside them; a
/// clump of a few points is smaller than any twig, however close its points lie.
///
/// points   (n) metres, any one Cartesian frame. Rows that are not finite are noise and nobody's neighbour; another row
///          at the same place is linked. All others as far as the k-th nearest count as neighbours too (up to 256 and
///          the leaf that reaches them). Where no neighbour has an s, reach is max_link_m.
/// Order    Labels follow the input; the result does not depend on threads (bit-identical).
/// Cost     O(n log n) time, 56 n bytes + 8 per node + 42 MB of scratch.
/// Cancel   Within 250 ms at any admissible parameters; no partial result.
/// Errors   kInvalidArgument for parameters outside the stated ranges.
/// Source   Own, made of: a scale for every point from its neighbours (Zelnik-Manor & Perona 2004, section 2.1, who take
///          the distance to the seventh), and clusters by distance of which small ones are outliers (Rusu 2009, section
///          6.2). Both points must be in each other's reach, where the former multiply the two scales.
NoiseResult cluster_outlier(HitPoints points, const ClusterOutlierParams& params, OpContext& ctx);

}  // namespace pc
