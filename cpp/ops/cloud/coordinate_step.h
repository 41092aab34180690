#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// The step of rounded coordinates: the smallest difference of two different x, or of two different y, of a sample of
/// points, metres; the smaller of the two. 0: fewer than 1,000 points to tell it from.
///
/// points   (n) metres; rows with a non-zero value in `skip` (n, or empty) and rows that are not finite do not count.
///          Differences below a micrometre are those of arithmetic, not of coordinates.
/// Sample   Up to 10,000 rows, evenly spaced. In coordinates that are not rounded the smallest difference of so many
///          is the extent divided by about the square of their number: .05 mm in 5 km, so a larger one is a step.
///          In fewer than 10,000 points of a large area it may be that of their places: 1,000 in 50 km, 5 cm.
/// Cost     O(n) time to count the rows, 160 KB of scratch. One thread.
/// Cancel   Within 250 ms.
double coordinate_step(Span<const Vec3d> points, Span<const std::uint8_t> skip, OpContext& ctx);

}  // namespace pc
