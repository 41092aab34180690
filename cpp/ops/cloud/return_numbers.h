#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"

namespace pc {

/// Largest return number of a LAS point, point formats 6 and above.
constexpr std::uint8_t kMostLasReturn = 15;

struct ReturnNumbers {
  bool usable;    ///< every index and count is a whole number from 0 to 255; else nothing is made
  bool as_given;  ///< number = target_index and count = target_count in all rows
  Column<std::uint8_t> number, count;  ///< (n) 1 to kMostLasReturn; empty unless usable
  std::uint64_t shortened_count;       ///< rows whose number or count is above kMostLasReturn
};

/// Numbers of returns as LAS files have them: from 1, the last one the number of returns of the pulse.
///
/// target_index  (n) number of the return in its pulse, any scalar type, from 0 or 1 by the return_numbering of all rows; 99 is
///               a pulse without return, and 0 where returns count from 1 an unknown one, which becomes 1
/// target_count  (n) returns of the pulse
/// Order    number = index - first + 1 and count = max(target_count, number), both at most kMostLasReturn; 1 of 1 for a pulse
///          without return.
/// Cost     Streaming passes; 4 bytes per row. Cancel within 50 ms.
/// Errors   kInvalidArgument for lengths that differ.
/// Source   ASPRS LAS 1.4 R15, "Return Number" and "Number of Returns"; contract core-endpoints 9 for 99.
ReturnNumbers return_numbers(const AnyColumn& target_index, const AnyColumn& target_count, OpContext& ctx);

/// Whether `number` and `count` are the return_numbers of all rows, or of more rows than these: the first returns may be left
/// out.
///
/// Cost     Streaming passes; 4 bytes per row. Cancel within 50 ms.
/// Errors   kInvalidArgument for lengths that differ.
bool are_return_numbers(const AnyColumn& target_index, const AnyColumn& target_count, const AnyColumn& number,
                        const AnyColumn& count, OpContext& ctx);

}  // namespace pc
