#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace cub {

/// A stable sort by bits [first_bit, last_bit) of the keys. Scratch is written over, so that the sanitizers see whether it is
/// as large as was asked for.
struct DeviceRadixSort {
  template <class Key>
  static constexpr int kBits = static_cast<int>(8 * sizeof(Key));

  template <class Key, class Value>
  static cudaError_t SortPairs(void* scratch, std::size_t& scratch_bytes, const Key* keys, Key* sorted_keys,
                               const Value* values, Value* sorted_values, std::int64_t count,
                               int first_bit = 0, int last_bit = kBits<Key>) {
    if (scratch == nullptr) {
      scratch_bytes = static_cast<std::size_t>(count);
      return cudaSuccess;
    }
    if (scratch_bytes < static_cast<std::size_t>(count)) return cudaErrorInvalidValue;
    std::memset(scratch, 0, scratch_bytes);
    const Key bits = last_bit == kBits<Key> ? ~Key{0} : (Key{1} << last_bit) - 1;
    const auto key = [&](std::int64_t i) { return (keys[i] & bits) >> first_bit; };
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return key(a) < key(b); });
    for (std::size_t i = 0; i < order.size(); ++i) {
      sorted_keys[i] = keys[order[i]];
      sorted_values[i] = values[order[i]];
    }
    return cudaSuccess;
  }
};

}  // namespace cub
