#include "core/radix_sort.h"

#include <array>
#include <cstring>
#include <utility>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kBlock = std::size_t{1}
                               << 16;  // rows per histogram: fixed, so the thread count does not matter
constexpr std::size_t kBuckets = 256;
constexpr int kDigitBits = 8;

template <class Key>
struct Pairs {
  Key* keys;
  std::uint32_t* values;
};

template <class Key>
std::size_t digit(Key key, int shift) {
  return static_cast<std::size_t>(key >> shift) & (kBuckets - 1);
}

/// Turns per-block counts (block-major) into the position where each block's bucket starts. Returns false if all rows
/// are in one bucket, so that the pass would move nothing.
bool prefix_buckets(Span<std::uint64_t> counts, std::size_t blocks, std::size_t n) {
  std::uint64_t position = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    const std::uint64_t start = position;
    for (std::size_t block = 0; block < blocks; ++block) {
      position += std::exchange(counts[block * kBuckets + bucket], position);
    }
    if (position - start == n) return false;
  }
  return true;
}

template <class Key>
void scatter_block(const Pairs<Key>& from, const Pairs<Key>& to, std::size_t begin, std::size_t end,
                   int shift, std::uint64_t* next) {
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint64_t position = next[digit(from.keys[i], shift)]++;
    to.keys[position] = from.keys[i];
    to.values[position] = from.values[i];
  }
}

template <class Key>
void sort_pairs(Span<Key> keys, Span<std::uint32_t> values, int key_bits, OpContext& ctx) {
  require(keys.size == values.size, "radix sort needs as many values as keys");
  require(key_bits >= 1 && key_bits <= static_cast<int>(8 * sizeof(Key)),
          "radix sort: key_bits is out of range");
  const std::size_t n = keys.size, blocks = (n + kBlock - 1) / kBlock;
  if (n < 2) return;
  BulkVector<Key> key_copy(n);
  BulkVector<std::uint32_t> value_copy(n);
  BulkVector<std::uint64_t> counts(blocks * kBuckets);
  Pairs<Key> from{keys.data, values.data}, to{key_copy.data(), value_copy.data()};
  for (int shift = 0; shift < key_bits; shift += kDigitBits) {
    parallel_for(ctx, blocks, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t block = first; block < last; ++block) {
        std::uint64_t* count = counts.data() + block * kBuckets;
        std::memset(count, 0, kBuckets * sizeof *count);
        for (std::size_t i = block * kBlock, end = std::min(n, i + kBlock); i < end; ++i) {
          ++count[digit(from.keys[i], shift)];
        }
      }
    });
    if (!prefix_buckets(counts.view(), blocks, n)) continue;
    parallel_for(ctx, blocks, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t block = first; block < last; ++block) {
        const std::size_t begin = block * kBlock;
        scatter_block(from, to, begin, std::min(n, begin + kBlock), shift, counts.data() + block * kBuckets);
      }
    });
    std::swap(from, to);
  }
  if (from.keys == keys.data) return;
  parallel_for(ctx, n, kBlock, [&](std::size_t begin, std::size_t end) {
    std::memcpy(keys.data + begin, from.keys + begin, (end - begin) * sizeof(Key));
    std::memcpy(values.data + begin, from.values + begin, (end - begin) * sizeof(std::uint32_t));
  });
}

template <class Key>
BulkVector<std::uint32_t> sorted_order(Span<const Key> keys, int key_bits, OpContext& ctx) {
  require(keys.size <= 0xffffffffu, "radix sort: more than 2^32 - 1 keys");
  BulkVector<Key> copy(keys.size);
  BulkVector<std::uint32_t> order(keys.size);
  parallel_for(ctx, keys.size, kBlock, [&](std::size_t begin, std::size_t end) {
    std::memcpy(copy.data() + begin, keys.data + begin, (end - begin) * sizeof(Key));
    for (std::size_t i = begin; i < end; ++i) order[i] = static_cast<std::uint32_t>(i);
  });
  sort_pairs<Key>(copy.view(), order.view(), key_bits, ctx);
  return order;
}

}  // namespace

void radix_sort_pairs(Span<std::uint64_t> keys, Span<std::uint32_t> values, int key_bits, OpContext& ctx) {
  sort_pairs(keys, values, key_bits, ctx);
}

void radix_sort_pairs(Span<std::uint32_t> keys, Span<std::uint32_t> values, int key_bits, OpContext& ctx) {
  sort_pairs(keys, values, key_bits, ctx);
}

BulkVector<std::uint32_t> radix_sort_order(Span<const std::uint64_t> keys, int key_bits, OpContext& ctx) {
  return sorted_order(keys, key_bits, ctx);
}

BulkVector<std::uint32_t> radix_sort_order(Span<const std::uint32_t> keys, int key_bits, OpContext& ctx) {
  return sorted_order(keys, key_bits, ctx);
}

}  // namespace pc
