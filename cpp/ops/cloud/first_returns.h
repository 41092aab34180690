#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

struct FirstReturns {
  bool is_multi_return;         ///< a row has a target_count above 1; without, `skip` is empty
  Column<std::uint8_t> skip;    ///< (n) 1 = left out by the given mask, or not a first return
  std::uint64_t dropped_count;  ///< rows that the given mask keeps and that are not first returns
};

/// First returns of a cloud of several returns per pulse, by its return_numbering. Unknown returns, with 0 where returns
/// count from 1, are kept.
///
/// target_index  (n) number of the return in its pulse, any scalar type, rounded half to even; NaN is no first return
/// target_count  (n) returns of the pulse
/// skip          (n) non-zero = leave out, or empty
/// Cost     At most three streaming passes. Cancel within 50 ms.
/// Errors   kInvalidArgument for lengths that differ.
/// Source   contract core-endpoints 7.
FirstReturns first_returns(const AnyColumn& target_index, const AnyColumn& target_count,
                           Span<const std::uint8_t> skip, OpContext& ctx);

}  // namespace pc
