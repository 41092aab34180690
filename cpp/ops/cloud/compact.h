#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"

namespace pc {

/// Copies columns without the rows that a mask drops.
///
/// columns  of any types, n rows each.
/// drop     (n) non-zero = leave the row out.
/// Order    Row order; types are kept, values bit for bit; does not depend on threads. Every result is a copy, even if
///          no row is dropped.
/// Cost     One pass over the mask and one over the columns (all columns block by block), and the results.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument if a column and the mask differ in length.
/// Source   Plain stream compaction: count, prefix sum, gather.
std::vector<AnyColumn> compact(const std::vector<const AnyColumn*>& columns, Span<const std::uint8_t> drop,
                               OpContext& ctx);

}  // namespace pc
