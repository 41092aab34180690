#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// Fills pits narrower than three cells by grey closing: the maximum over each 3 x 3 window, then the minimum of these
/// maxima. Never lowers a cell; a second fill changes nothing.
///
/// values   (nx * ny) NaN = void; voids stay; voids and cells beyond the grid count as -infinity
/// Order    Does not depend on threads. Cost O(cells), 8 bytes of scratch per cell. Cancel within 50 ms.
/// Errors   kInvalidArgument: wrong number of values.
/// Source   Serra 1982, "Image analysis and mathematical morphology", closing; contract terrain section 1.4.
Column<double> pit_fill(std::uint32_t nx, std::uint32_t ny, Span<const double> values, OpContext& ctx);

}  // namespace pc
