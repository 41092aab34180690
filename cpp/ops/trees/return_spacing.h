#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Typical distance between points seen from above.
///
/// The points are counted in square cells of 4 sqrt(area of their box / n), at least 1 m and at most 10 m (more where there
/// would be over 4 M of them). The spacing is the edge of a cell over the root of the median count of the cells that are not
/// empty, so that gaps in a cloud and clouds beside each other do not count as sparse.
///
/// positions  (n) metres, z up; rows that are not finite are left out
/// skip       (n) non-zero = not counted, or empty = none
/// Returns    metres; 0 without points, and where they reach over 1e9 m: unknown
/// Order      Does not depend on threads or the order of the points.
/// Cost       O(n), 4 bytes per 16 points. Cancel within 50 ms.
/// Source     Own.
double return_spacing(Span<const Vec3d> positions, Span<const std::uint8_t> skip, OpContext& ctx);

}  // namespace pc
