#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"

namespace pc {

/// Every column without the rows that a mask drops.
///
/// columns  of any types, n rows each.
/// drop     (n) non-zero = leave the row out.
/// Order    Row order, types kept, bit for bit; does not depend on threads. Every result is a copy, also where
///          nothing is dropped.
/// Cost     One pass over the mask and one over the columns, all columns of a block of rows together; the results.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument when a column has another length than the mask.
/// Source   Plain stream compaction: count, prefix sum, gather.
std::vector<AnyColumn> compact(const std::vector<const AnyColumn*>& columns, Span<const std::uint8_t> drop,
                               OpContext& ctx);

}  // namespace pc
