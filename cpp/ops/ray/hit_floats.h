#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

struct HitFloats {
  Column<float> values;  ///< in the order of the rows
  double largest;        ///< absolute, before it was narrowed; 0 without rows
};

/// The rows of a column that are hits, in float32: three values per row of vec3d, and of rgb16, divided by 65535.
///
/// is_miss  (n) 0 = hit
/// Cost     Two passes. Cancel within 50 ms.
/// Errors   kInvalidArgument: lengths that differ.
HitFloats hit_floats(const AnyColumn& column, Span<const std::uint8_t> is_miss, OpContext& ctx);

}  // namespace pc
