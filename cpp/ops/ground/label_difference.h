#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// Number of rows in which two label columns of the same length differ.
///
/// Order    Does not depend on threads. Cost one streaming pass. Cancel within 50 ms.
/// Errors   kInvalidArgument for lengths that differ.
std::uint64_t count_label_differences(Span<const std::uint8_t> a, Span<const std::uint8_t> b, OpContext& ctx);

}  // namespace pc
