#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// Sorts `keys` ascending and reorders `values` with them. Stable: equal keys keep the order of their values.
///
/// keys     (n) only the low `key_bits` bits are compared; higher bits travel with them. n == 0 is allowed.
/// values   (n) payload, usually the index of the key's row.
/// Order    The result is a function of the input only, for any thread count.
/// Cost     O(n ceil(key_bits / 8)) time; passes over digits that are equal in all keys are skipped. Scratch: a second
///          copy of keys and values, plus 2 KiB per 64 Ki rows.
/// Cancel   Within 50 ms; the contents of keys and values are then undefined.
/// Errors   kInvalidArgument if the sizes differ or key_bits is outside 1..64 (1..32 for 32-bit keys).
/// Source   Least-significant-digit radix sort, Knuth, The Art of Computer Programming 3, algorithm 5.2.5 R;
///          counting is split over fixed blocks whose histograms are summed in block order.
void radix_sort_pairs(Span<std::uint64_t> keys, Span<std::uint32_t> values, int key_bits, OpContext& ctx);
void radix_sort_pairs(Span<std::uint32_t> keys, Span<std::uint32_t> values, int key_bits, OpContext& ctx);

/// The order that sorts `keys` (which stay unchanged): keys[result[0]] <= keys[result[1]] <= ..., ties by index. Same
/// contract as radix_sort_pairs. Throws kInvalidArgument beyond 2^32 - 1 keys.
BulkVector<std::uint32_t> radix_sort_order(Span<const std::uint64_t> keys, int key_bits, OpContext& ctx);
BulkVector<std::uint32_t> radix_sort_order(Span<const std::uint32_t> keys, int key_bits, OpContext& ctx);

}  // namespace pc
