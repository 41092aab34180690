#pragma once
#include <vector>

#include "core/op_context.h"
#include "core/vec3.h"
#include "ops/fit/crown_solid.h"

namespace pc {

/// Relative volume that a solid must lose for each share of the points that it leaves outside. Points that fill a solid
/// evenly give 1, points on its surface 0; a share of 5 % in branches that reach out of a crown by its half-width 10
/// and more.
constexpr double kVolumePerShare = 4;

/// Upright solid around the bulk of the points, which points far outside do not pull: a local minimum of
///   log(volume) - kVolumePerShare / 2 * log(1 - 2 * (share of the points outside))
/// whose second term is kVolumePerShare * share for small shares and keeps half of the points inside. The step from inside
/// to outside is smooth, and steeper from stage to stage.
///
/// points   at least 4, finite
/// Order    The same bits for any thread count: one thread.
/// Cost     Some hundreds of passes over the points, of some tens of nanoseconds per point; for up to some ten thousands.
/// Cancel   Within 50 ms.
/// Source   Graduated non-convexity (Blake & Zisserman 1987) from the medians and the median deviations; share and width
///          of the stages: solids with 5 % stray points (test/cpp/ops/fit/crown_shapes_test.cpp).
CrownSolid soft_crown(CrownShape shape, const std::vector<Vec3d>& points, OpContext& ctx);

}  // namespace pc
