#pragma once
#include "core/column.h"
#include "core/op_context.h"

namespace pc {

/// Numbers of returns counted from 1, of a cloud that counts them from 0.
///
/// target_index  (n) number of the return in its pulse, any scalar type
/// target_count  (n) returns of the pulse, or nullptr; not used if no row has any
/// Order    index + 1, of the type of target_index. As they are: 0 of 0 returns (an unknown return, which has no number), 99 (no
///          return), negative and not finite numbers, and what the type cannot hold with 1 more.
/// Cost     At most two streaming passes. Cancel within 50 ms.
/// Errors   kInvalidArgument for lengths that differ.
/// Source   contract cloud-import 8; ASPRS LAS 1.4 R15, "Return Number", for numbers from 1.
AnyColumn returns_from_one(const AnyColumn& target_index, const AnyColumn* target_count, OpContext& ctx);

}  // namespace pc
