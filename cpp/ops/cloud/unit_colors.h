#pragma once
#include "core/column.h"
#include "core/op_context.h"

namespace pc {

/// Colours 0..1 as channels of 16 bits: 65535 is 1, rounded to the nearest.
///
/// colors   (n) r, g, b; values outside 0..1 are clipped, NaN is 0.
/// Order    That of `colors`; the result does not depend on threads.
/// Cost     O(n) time, 6 n bytes. Cancel within 250 ms. No errors.
Column<Rgb16> unit_colors(Span<const Vec3d> colors, OpContext& ctx);

}  // namespace pc
