#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"

namespace pc {

/// One operand: the rows whose byte is non-zero, or with `invert` those whose byte is zero.
struct MaskTerm {
  Span<const std::uint8_t> mask;  ///< (n)
  bool invert;
};

enum class MaskLogic : std::uint8_t {
  kAnd,  ///< rows that are in every term
  kOr,   ///< rows that are in any term
};

struct CombinedMask {
  Column<std::uint8_t> mask;  ///< (n) 0 or 1
  std::uint64_t count;        ///< rows with 1
};

/// Combines masks row by row.
///
/// terms   at least one, all of one length n; n == 0 gives an empty mask.
/// Order   Row i of the result depends on row i of the terms alone.
/// Cost    One streaming pass over every term; n bytes.
/// Cancel  Within 50 ms.
/// Errors  kInvalidArgument without terms or for lengths that differ.
/// Source  Boolean algebra.
CombinedMask combine_masks(const std::vector<MaskTerm>& terms, MaskLogic logic, OpContext& ctx);

}  // namespace pc
