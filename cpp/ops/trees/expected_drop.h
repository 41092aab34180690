#pragma once
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Mean lowering of the highest point where each point is left out with odds of one half: the sum of (z_1 - z_i) / 2^i over the
/// points from above. Where it is small, more points would not raise the top; where points are few, treetops of the reference
/// forest lay about twice as much above the highest point (docs/accuracy.md). Cost O(n); points is not empty.
double expected_drop(Span<const Vec3d> points);

}  // namespace pc
