#pragma once
#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// Whole numbers instead of the values of a column: value from[i] becomes to[i], every other value, NaN too, becomes 0.
///
/// column   (n) scalar; values are rounded, halves to even, as class_counts does
/// from     (k) whole numbers, ascending
/// to       (k) whole numbers, 0 .. 2^32 - 1
/// Returns  (n) u16 if all numbers fit, else u32.
/// Order    Input order; does not depend on threads.
/// Cost     One pass, O(n log k).
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument for triples, lists of different lengths, and numbers out of range or order.
AnyColumn map_values(const AnyColumn& column, Span<const double> from, Span<const double> to, OpContext& ctx);

}  // namespace pc
