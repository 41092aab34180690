#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "spatial/kd_tree.h"

namespace pc {

/// How many points of a cloud are on thin round things, as twigs and wires are.
///
/// Thin     The covariance of a point and its k nearest others at different positions (of the nearest 64) has
///          eigenvalues a <= b <= c with b < c / 10 and a > b / 10: the points form a line that is about as thick as
///          wide. Rows of a scanner on a surface are lines too, but ribbons, with a near 0. Points at one place that
///          fill a leaf of the tree are not thin.
/// Sample   About 20,000 points of a larger cloud, chosen by their coordinates.
///
/// tree     of the points; 0 if it has none.
/// k        2 .. 64
/// Returns  thin points as a share of the sample.
/// Order    Does not depend on threads or on the order of the points, but for neighbours at equal distances.
/// Cost     O(log n) for each point of the sample and one pass over the points.
/// Cancel   Within 50 ms.
/// Source   Features of the eigenvalues of a neighbourhood as by Demantke et al. 2011, here two ratios.
double thin_share(const KdTree& tree, std::uint32_t k, OpContext& ctx);

}  // namespace pc
