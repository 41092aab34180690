#pragma once
#include <cstddef>
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// Marks all rows but every so many-th of those that a mask keeps, beginning with the first of them.
///
/// rows     n
/// skip     (n) non-zero = leave out, or empty = keep all
/// stride   >= 1
/// Order    1 = leave out, 0 = keep. Does not depend on the thread count.
/// Cost     Two passes over the mask. Cancel within 50 ms.
/// Errors   kInvalidArgument: a skip of another length, stride 0.
/// Source   Source descriptor, contract wire.
Column<std::uint8_t> thin_rows(std::size_t rows, Span<const std::uint8_t> skip, std::uint64_t stride,
                               OpContext& ctx);

}  // namespace pc
