#pragma once
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Widest strip without points that parts a tree in two, seen from above, metres: a tree whose points stand in two places.
///
/// points   (n) metres, finite. A sample of up to 20,000, evenly spaced, is looked at: a few stray points or a twig
///          do not bridge a strip.
/// Strip    Straight, in one of eight directions, with at least a tenth of the points on either side. In steps of
///          0.25 m, of 1/4,000 of the extent where that is more. 0: none, or fewer than 10 points.
/// Cost     O(n) time, 200 KB. Cancel within 250 ms.
double widest_empty_strip(Span<const Vec3d> points, OpContext& ctx);

}  // namespace pc
