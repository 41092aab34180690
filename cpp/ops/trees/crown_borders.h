#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "spatial/raster.h"

namespace pc {

/// Of the outlines of all crowns seen from above, the part along other crowns, 0 to 1; 0 without crowns.
///
/// crowns  (nx * ny) label of each cell, 0 = none
/// Cost    O(cells).
/// Cancel  Within 250 ms.
double touching_part(const RasterFrame& frame, const Column<std::uint32_t>& crowns, OpContext& ctx);

/// How far the top of each crown rises above its saddle to a higher crown beside it, as a part of its height.
///
/// Crowns touch where cells of theirs share an edge or a corner. The saddle is the highest such place, and the height of
/// a place that of the lower of both cells. Of two tops of one height that of the smaller label is the higher.
///
/// heights  (nx * ny) canopy above the ground, metres, NaN = none
/// crowns   (nx * ny) label of each cell, 0 = none, at most tops.size
/// tops     (k) height of the top of the crown with label i + 1, metres, > 0; NaN = no crown has that label
/// returns  (k) 0 to 1; 1 = no higher crown touches it, or there is no crown
/// Order    The result does not depend on threads.
/// Cost     O(cells + k).
/// Cancel   Within 250 ms.
std::vector<double> top_rises(const RasterFrame& frame, Span<const double> heights,
                              const Column<std::uint32_t>& crowns, Span<const double> tops, OpContext& ctx);

}  // namespace pc
