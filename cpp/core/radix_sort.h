#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// Sorts `keys` ascending and carries `values` along. Stable: equal keys keep the order of their values.
///
/// keys     (n) only the low `key_bits` bits are compared; higher bits must be zero. n == 0 is fine.
/// values   (n) payload, usually the index of the row the key came from.
/// Order    The result is a function of the input only, for any thread count.
/// Cost     O(n ceil(key_bits / 8)) time; digits that are equal everywhere are skipped. Scratch: a
///          second copy of keys and values, plus 2 KiB per 64 Ki rows.
/// Cancel   Within 50 ms; keys and values are then a mixture of passes and must be thrown away.
/// Errors   kInvalidArgument when the sizes differ or key_bits is outside 1..64 (1..32 for 32-bit keys).
/// Source   Least-significant-digit radix sort, Knuth, The Art of Computer Programming 3, algorithm 5.2.5 R;
///          the counting step is split over fixed blocks whose histograms are summed in block order.
void radix_sort_pairs(Span<std::uint64_t> keys, Span<std::uint32_t> values, int key_bits, OpContext& ctx);
void radix_sort_pairs(Span<std::uint32_t> keys, Span<std::uint32_t> values, int key_bits, OpContext& ctx);

/// The order that sorts `keys` (which stay as they are): keys[result[0]] <= keys[result[1]] <= ..., ties by
/// index. Same contract as radix_sort_pairs. kInvalidArgument beyond 2^32 - 1 keys.
BulkVector<std::uint32_t> radix_sort_order(Span<const std::uint64_t> keys, int key_bits, OpContext& ctx);
BulkVector<std::uint32_t> radix_sort_order(Span<const std::uint32_t> keys, int key_bits, OpContext& ctx);

}  // namespace pc
