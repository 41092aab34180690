#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

namespace pc::octree {

/// Calls visit(i) for every i in [begin, end) with level[i] == wanted, ascending. Compares eight bytes at a time,
/// because upper nodes have few records in long ranges.
template <class Visit>
inline void for_each_at_level(const std::uint8_t* level, std::uint32_t begin, std::uint32_t end,
                              std::uint8_t wanted, Visit&& visit) {
  constexpr std::uint64_t kLow7 = 0x7f7f7f7f7f7f7f7fULL;
  const std::uint64_t pattern = 0x0101010101010101ULL * wanted;
  std::uint64_t i = begin;  // 64 bits: end may be close to 2^32
  if constexpr (std::endian::native == std::endian::little) {
    for (; i + 8 <= end; i += 8) {
      std::uint64_t word;
      std::memcpy(&word, level + i, 8);
      word ^= pattern;
      std::uint64_t hits = ~(((word & kLow7) + kLow7) | word | kLow7);  // 0x80 in each byte that is equal
      for (; hits != 0; hits &= hits - 1) {
        visit(static_cast<std::uint32_t>(i + static_cast<unsigned>(std::countr_zero(hits)) / 8));
      }
    }
  }
  for (; i < end; ++i) {
    if (level[i] == wanted) visit(static_cast<std::uint32_t>(i));
  }
}

}  // namespace pc::octree
