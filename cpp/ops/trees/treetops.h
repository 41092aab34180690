#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "spatial/raster.h"

namespace pc {

/// Treetops: cells that are the highest within a radius.
///
/// A flat top, connected cells of one height without a higher cell beside them, counts once, at its cell nearest to its
/// centre. Of tops of exactly one height within the radius of each other the one with the lowest cell number counts. A
/// top is in any case at least as high as the eight cells around it.
///
/// heights  (frame.cells()) metres; NaN = void
/// radius   metres, > 0, between cell centres, inclusive
/// least    metres: cells below are no tops
/// Returns  their cell numbers, ascending
/// Order    Does not depend on threads.
/// Cost     O(cells) and, per local maximum, O(log cells) in typical cases; 17 bytes per cell. Cancel within 250 ms.
/// Source   Popescu & Wynne 2004, Photogramm. Eng. Remote Sens. 70, 589: local maxima in a circular window; the window
///          is that of contract classification section 4.2.
std::vector<std::uint32_t> treetops(const RasterFrame& frame, Span<const double> heights, double radius,
                                    double least, OpContext& ctx);

}  // namespace pc
