#pragma once
#include <cstdint>
#include <optional>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// How a cloud numbers the returns of a pulse.
struct ReturnNumbering {
  std::optional<double> first;  ///< number of the first return; none if no row has a number
  std::uint64_t first_count;    ///< rows with it
  std::uint64_t unknown_count;  ///< rows with 0 although returns count from 1: their return is not known

  /// Whether a row with 0 is a first return.
  bool from_zero() const { return first == 0.0; }
};

/// Number of the first returns: the lowest number. It is 0 only if rows with 0 are returns: a row with 0 of 0 returns is
/// none, and neither are rows with 0 where fewer of them than rows with 1 are known and a row is the last of its pulse when
/// counted from 1, because a pulse with a second return has a first one.
///
/// target_index  (n) number of the return in its pulse, any scalar type, rounded half to even; 99 is a pulse without return,
///               and what is negative or not finite is no number
/// target_count  (n) returns of the pulse, or nullptr; not used if no row has any
/// skip          (n) non-zero = leave out, or empty
/// Order    Does not depend on threads.
/// Cost     One streaming pass. Cancel within 50 ms.
/// Errors   kInvalidArgument for lengths that differ.
/// Source   contract cloud-import 8 (the lowest number, 99 left out).
ReturnNumbering return_numbering(const AnyColumn& target_index, const AnyColumn* target_count,
                                 Span<const std::uint8_t> skip, OpContext& ctx);

}  // namespace pc
