#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Marks all rows but about half of those that a mask keeps, drawn by position: what depends on the density of the points
/// shows itself with the other half left out.
///
/// positions  (n)
/// skip       (n) non-zero = leave out, or empty = keep all
/// Order    1 = leave out, 0 = keep. Does not depend on the thread count; a place is kept or not in any order of the rows.
/// Cost     One pass. Cancel within 50 ms.
/// Errors   kInvalidArgument: a skip of another length.
/// Source   position_hash.h.
Column<std::uint8_t> half_rows(Span<const Vec3d> positions, Span<const std::uint8_t> skip, OpContext& ctx);

}  // namespace pc
