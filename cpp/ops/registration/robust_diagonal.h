#pragma once
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Size of a cloud that stray points do not enlarge: the diagonal of the box of the points within three times the
/// median distance from the median place. Fewer than 64 points, or fewer than half of them that near: the diagonal of
/// the box of all.
///
/// points   (n) finite, metres; 0 for an empty cloud
/// Order    Does not depend on threads or the order of the points.
/// Cost     O(n); 16 bytes per point of scratch. Cancel within 250 ms.
/// Source   contract terrain section 3.2.
double robust_diagonal(Span<const Vec3d> points, OpContext& ctx);

}  // namespace pc
