#pragma once
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Box of the points that are finite; empty without any. Does not depend on threads. Cost O(n). Cancel within 50 ms.
Box3d finite_box(Span<const Vec3d> points, OpContext& ctx);

}  // namespace pc
