#pragma once
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// How much lower the highest point of a tree is that does not stand alone, metres; NaN = unknown. Rain, snow, fog, insects, birds and noise of
/// the scanner are the highest points of the trees below them.
///
/// points   (n) of a tree, metres, z up, finite
/// Looks at The highest tenth of the points, at least 1000 and at most 100,000, equally high ones by x, then y. Unknown of fewer than 34.
/// Alone    label_clusters of cluster_outlier.h on these points: clusters of up to 16 that are far from the others. Links are at least 6
///          medians and at most 5 times the 95th percentile of the distances between nearest points.
/// Order    The same for any order of the points.
/// Cost     O(n + m log m) time for the m points it looks at, some 6 us each; 200 bytes each.
/// Cancel   Within 250 ms.
/// Source   Ours; the criterion is that of `denoise`. Where few beams reach the tops, the highest leaf may stand alone, too, mostly by less
///          than 0.3 m (docs/accuracy.md).
double stray_top(Span<const Vec3d> points, OpContext& ctx);

}  // namespace pc
