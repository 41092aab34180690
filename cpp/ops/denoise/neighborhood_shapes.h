#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "spatial/kd_tree.h"

namespace pc {

struct NeighborhoodShapes {
  double thin_share;  ///< thin points as a share of the sample, 0 .. 1; 0 without a sample
  double
      surface_spread;  ///< upper quartile of the balls on surfaces / their lower quartile; infinite for fewer than 100
  double surface_ball_m;  ///< 95th percentile of the balls on surfaces, metres; infinite for fewer than 100
};

/// What the points of a cloud lie on: how many on thin round things, as twigs and wires are, and how densely and how
/// evenly surfaces are sampled.
///
/// Thin     The covariance of a point and its k nearest others at different positions (of the nearest 64) has
///          eigenvalues a <= b <= c with b < c / 10 and a > b / 10: the points form a line that is about as thick as
///          wide. Rows of a scanner on a surface are lines too, but ribbons, with a near 0. Points at one place that
///          fill a leaf of the tree are not thin.
/// Surface  a < b / 10 and b > c / 10. The ball of such a point is the distance to the last of the k. Beams from a drone
///          or an aircraft are about as far apart everywhere (spreads of 1.1 to 1.4), those of a tripod on far things ten
///          times as far as on near ones (2.6 to 4.9).
/// Sample   About 20,000 points of a larger cloud, chosen by their coordinates.
///
/// tree     of the points.
/// k        2 .. 64
/// Order    Does not depend on threads or on the order of the points, but for neighbours at equal distances.
/// Cost     O(log n) for each point of the sample and one pass over the points.
/// Cancel   Within 50 ms.
/// Source   Features of the eigenvalues of a neighbourhood as by Demantke et al. 2011, here ratios.
NeighborhoodShapes neighborhood_shapes(const KdTree& tree, std::uint32_t k, OpContext& ctx);

}  // namespace pc
