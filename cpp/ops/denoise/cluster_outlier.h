#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/op_context.h"
#include "core/span.h"
#include "ops/denoise/noise_result.h"
#include "spatial/kd_tree.h"

namespace pc {

/// Largest allowed ClusterOutlierParams::nb_neighbors and cluster_points: limits scratch and time per point.
constexpr std::uint32_t kMaxClusterPoints = 64;

struct ClusterOutlierParams {
  std::uint32_t
      nb_neighbors;    ///< k, nearest others that the local spacing is computed from, 2 .. kMaxClusterPoints
  double link_factor;  ///< longest link = link_factor * local spacing; finite and > 0
  /// Where few points are on thin things, a link is at most ball_factor * radius of the ball that holds k others;
  /// finite and > 0.
  double ball_factor;
  double most_thin;        ///< largest thin_share of a cloud that ball_factor applies to, 0 .. 1
  double min_ball_link_m;  ///< points this close are linked there, metres, finite and >= 0
  /// Where surfaces are sampled evenly, a link is at most surface_factor * surface_ball_m; finite and > 0.
  double surface_factor;
  double most_uneven;  ///< largest surface_spread of a cloud that surface_factor applies to; finite, >= 0
  double min_link_m;   ///< points this close are always linked, metres, finite and >= 0
  double max_link_m;   ///< upper bound of the longest link, metres, finite, > 0 and >= min_link_m
  std::uint32_t cluster_points;  ///< a smaller cluster may be noise, 1 .. kMaxClusterPoints
  double gap_factor;  ///< a small cluster is noise if its gap > gap_factor * its extent; finite, >= 0
};

/// Cluster outlier removal: links points that are close together; the points of small clusters far from the rest are
/// noise.
///
/// Distance  s(p) is the distance from p to the second nearest of those of its k nearest other points that have another
///           position than p; if only one of them has, the distance to that one.
/// Spacing   The local spacing of p is the lower quartile of s(q) over the k nearest other points q of p. The lower
///           quartile stays valid if up to half of these are noise or in a sparser part.
/// Ball      The lower quartile, over the same q, of the distance from q to the last of its k nearest others.
/// Link      reach(p) = link_factor * local spacing of p, but at least min_link_m and at most max_link_m. Where at most
///           `most_thin` of the points lie on thin things (neighborhood_shapes.h), it is at most ball_factor * ball too,
///           but at least min_ball_link_m. Where surfaces are sampled evenly, it is at most surface_factor * surface_ball_m, but at least min_link_m.
///           Two points p and q are linked if their distance is at most min(reach(p), reach(q)).
/// Cluster   A set of points connected by links (single linkage). Points of clusters of `cluster_points` and more are
///           clean. The others are linked anew, with reach(p) at most that of the nearest clean point. A cluster of
///           these is noise if its gap, the distance to the nearest point of another cluster, exceeds gap_factor times
///           its extent, the greatest distance between two of its points; or if its points are scattered: no two at
///           different positions are within reach(q) of each other, q the nearest point outside.
///
/// Spacing grows with the distance from the scanner, so each part of a cloud is judged by its own spacing: far twigs
/// are not compared with a near trunk. The points of a twig are as far apart as beams happen to meet it, so links have
/// to be many spacings long; on a surface the ball of k points is about three spacings, and what stands off it farther
/// than that is alone. Where the beams are as far apart everywhere, as those of a drone, what is seen sparsely is thin,
/// not far: what lies farther from everything than nearly all surfaces' neighbours is alone. A part of a twig that is cut off by what hides the rest of it is longer than a clump of as many
/// points, and nearer to the rest in proportion: with a gap of g extents the visible part would be 1 / (1 + g) of a
/// straight twig. A single point has no extent: it is noise if nothing is linked to it. Points of noise whose
/// neighbours are noise too have long links to each other; what is scanned near them has shorter ones.
///
/// points   (n) metres, any one Cartesian frame. Rows that are not finite are noise and not neighbours of any point;
///          rows at the same position are linked. Points as far away as the k-th nearest count as neighbours too (up
///          to 256 points and the leaf that exceeds this). If no neighbour has an s, reach is max_link_m.
/// Order    Labels follow the input; the result does not depend on threads (bit-identical).
/// Cost     O(n log n) time, 64 n bytes + 8 per node + 25 MB of scratch.
/// Cancel   Within 250 ms for all allowed parameters; no partial result.
/// Errors   kInvalidArgument for parameters out of range.
/// Source   Own, a combination of: a scale for every point from its neighbours (Zelnik-Manor & Perona 2004, section
///          2.1, who use the distance to the seventh neighbour), and distance clusters of which small ones are
///          outliers (Rusu 2009, section 6.2). Here each point must be within the other's reach; the former multiply
///          the two scales. The gap is that of a single-linkage cluster (Sneath 1957), here relative to the extent.
NoiseResult cluster_outlier(HitPoints points, const ClusterOutlierParams& params, OpContext& ctx);

/// The same for the points of a tree: sets the labels of clean points, by row.
void label_clusters(const KdTree& tree, const ClusterOutlierParams& params, Span<std::uint8_t> labels,
                    OpContext& ctx);

}  // namespace pc
