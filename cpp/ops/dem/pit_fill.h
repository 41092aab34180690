#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// Raises pits narrower than three cells: grey closing with a 3 x 3 window, the largest value of each window, then the
/// smallest of these. Never lowers a cell; filling twice is filling once.
///
/// values   (nx * ny) NaN = void; voids and what lies beyond the grid count as -infinity and stay as they are
/// Order    Does not depend on threads. Cost O(cells), 8 bytes a cell of scratch. Cancel within 50 ms.
/// Errors   kInvalidArgument: another number of values.
/// Source   Serra 1982, "Image analysis and mathematical morphology", closing; contract terrain section 1.4.
Column<double> pit_fill(std::uint32_t nx, std::uint32_t ny, Span<const double> values, OpContext& ctx);

}  // namespace pc
