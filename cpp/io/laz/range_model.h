#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#endif

#include <bit>

/// The coders take turns between streams symbol by symbol, which works only if calls and short loops are flattened.
#if defined(_MSC_VER)
#define PC_INLINE __forceinline
#define PC_NOINLINE __declspec(noinline)
#define PC_INLINE_LAMBDA
#define PC_UNROLL
#else
#define PC_INLINE inline __attribute__((always_inline))
#define PC_NOINLINE __attribute__((noinline))
#define PC_INLINE_LAMBDA __attribute__((always_inline))
#if defined(__clang__)
#define PC_UNROLL _Pragma("clang loop unroll(full)")
#else
#define PC_UNROLL _Pragma("GCC unroll 8")
#endif
#endif

/// Adaptive probability models of the LAZ range coder, used in both directions. The sequence of distributions must
/// agree with other implementations; the way a symbol is searched in them need not.
/// Source: A. Said, "Introduction to Arithmetic Coding - Theory and Practice", HP Labs HPL-2004-76, sections 3.2 and
/// 3.3 (periodic model updates); constants as LAZ files fix them (LASzip 3 specification, "Entropy coding").
namespace pc::io::laz {

constexpr unsigned kSymbolBits = 15;  ///< the sum of a distribution is 2^15
constexpr unsigned kBitBits = 13;     ///< probability of a bit in 1/2^13
constexpr std::uint32_t kMaxSymbolCount = 1U << kSymbolBits;
constexpr std::uint32_t kMaxBitCount = 1U << kBitBits;
constexpr std::uint32_t kMinLength = 1U << 24;  ///< the interval is rescaled below this length

/// 8 if length < bound, else 0: the sign of the difference, because compilers turn comparisons into branches, and these
/// would be unpredictable.
inline unsigned eight_if_below(std::uint32_t length, std::uint32_t bound) {
  return static_cast<unsigned>((std::uint64_t{length} - bound) >> 60) & 8U;
}

/// Bits by which an interval is scaled to at least kMinLength, a multiple of eight; the length is at least 2^kLeastBits.
template <unsigned kLeastBits>
PC_INLINE unsigned rescale_bits(std::uint32_t length) {
  static_assert(kLeastBits > 0);
  unsigned bits = eight_if_below(length, kMinLength);
  if constexpr (kLeastBits < 16) bits += eight_if_below(length, kMinLength >> 8);
  if constexpr (kLeastBits < 8) bits += eight_if_below(length, kMinLength >> 16);
  return bits;
}

constexpr unsigned kLeastSymbolBits =
    24 - kSymbolBits;                  ///< of the interval after a symbol or a bit, before it is scaled
constexpr unsigned kLeastRawBits = 5;  ///< after up to 19 bits without a model

/// Number of entries <= key among kLanes ascending int16 values (kLanes a multiple of 16, at most 64).
template <unsigned kLanes>
unsigned count_not_above(const std::int16_t* sorted, std::int16_t key) {
  static_assert(kLanes % 16 == 0 && kLanes <= 64);
#if defined(__SSE2__) || defined(_M_X64)
  const __m128i wanted = _mm_set1_epi16(key);
  std::uint64_t above = 0;
  for (unsigned i = 0; i < kLanes; i += 16) {
    const __m128i* at = reinterpret_cast<const __m128i*>(sorted + i);
    const __m128i low = _mm_cmpgt_epi16(_mm_load_si128(at), wanted);
    const __m128i high = _mm_cmpgt_epi16(_mm_load_si128(at + 1), wanted);
    above |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(low, high))))
             << i;
  }
  if constexpr (kLanes < 64) {
    return static_cast<unsigned>(std::countr_zero(above | (std::uint64_t{1} << kLanes)));
  } else {
    return static_cast<unsigned>(std::countr_zero(above));
  }
#else
  std::int16_t count = 0;
  for (unsigned i = 0; i < kLanes; ++i) count = static_cast<std::int16_t>(count + (sorted[i] <= key));
  return static_cast<unsigned>(count);
#endif
}

/// Adaptive distribution of up to kSymbols symbols. `until_update` == 0 means not in use yet: the coders initialise it
/// at its first symbol, so a reset is a single store.
template <unsigned kSymbols>
struct alignas(16) SymbolModel {
  static constexpr unsigned kFlat =
      kSymbols <= 48 ? (kSymbols + 15) / 16 * 16 : 0;  ///< lanes of a one-step search
  static constexpr unsigned kBlocks = (kSymbols + 15) / 16;
  static constexpr unsigned kTop = kFlat != 0 ? 16 : (kBlocks + 15) / 16 * 16;
  static constexpr std::int32_t kBias = 32768;    ///< subtracted from stored starts: all are negative
  static constexpr std::int16_t kBeyond = 32767;  ///< filler after the last symbol, greater than every key

  std::int16_t starts[kBlocks * 16 + 8];  ///< cumulative distribution, below 2^15, minus kBias; then fillers
  std::int16_t top[kTop];                 ///< starts of every 16th symbol
  std::uint16_t count[kSymbols];
  std::uint32_t until_update = 0, cycle, total;
  std::uint32_t size;

  void reset() { until_update = 0; }

  PC_NOINLINE void begin(std::uint32_t symbols) {
    size = symbols;
    std::fill(starts, starts + kBlocks * 16 + 8, kBeyond);
    std::fill(top, top + kTop, kBeyond);
    std::fill(count, count + symbols, std::uint16_t{1});
    total = 0;
    cycle = symbols;
    update();
    until_update = cycle = (symbols + 6) >> 1;
  }

  PC_NOINLINE void update() {
    total += cycle;
    if (total > kMaxSymbolCount) {
      total = 0;
      for (std::uint32_t i = 0; i < size; ++i) {
        count[i] = static_cast<std::uint16_t>((count[i] + 1U) >> 1);
        total += count[i];
      }
    }
    const std::uint32_t scale = 0x80000000U / total;
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
      starts[i] =
          static_cast<std::int16_t>(static_cast<std::int32_t>((scale * sum) >> (31 - kSymbolBits)) - kBias);
      sum += count[i];
    }
    if constexpr (kFlat == 0) {
      for (std::uint32_t i = 0; i < size; i += 16) top[i / 16] = starts[i];
    }
    cycle = std::min((5 * cycle) >> 2, (size + 6) << 3);
    until_update = cycle;
  }

  std::uint32_t start(std::uint32_t symbol) const {
    return static_cast<std::uint32_t>(starts[symbol] + kBias);
  }

  /// The start of a symbol in the lower half, that of the next one in the upper half; after the last symbol 0xFFFF.
  std::uint32_t bounds(std::uint32_t symbol) const {
    std::uint32_t both;
    std::memcpy(&both, starts + symbol, sizeof both);
    if constexpr (std::endian::native == std::endian::big) both = both << 16 | both >> 16;
    return both ^ 0x80008000U;
  }

  /// End of a symbol's part of an interval of this length. Symbols end at their successor's start, the last one at the
  /// end of the interval, which lies before the start that the fillers stand for.
  std::uint32_t end(std::uint32_t symbol, std::uint32_t unit, std::uint32_t length) const {
    const std::uint64_t next = static_cast<std::uint64_t>(start(symbol + 1)) * unit;
    return next < length ? static_cast<std::uint32_t>(next) : length;
  }

  /// The last symbol whose start is <= key. The key is a value within the interval divided by its unit, so less than
  /// kBias + 65 even for damaged streams, and less than the fillers: the symbol exists.
  std::uint32_t find(std::uint32_t key) const {
    const auto biased = static_cast<std::int16_t>(static_cast<std::int32_t>(key) - kBias);
    if constexpr (kFlat != 0) {
      return count_not_above<kFlat>(starts, biased) - 1;
    } else {
      const std::uint32_t block = count_not_above<kTop>(top, biased) - 1;
      return block * 16 + count_not_above<16>(starts + block * 16, biased) - 1;
    }
  }
};

/// Adaptive probability of one bit.
struct BitModel {
  std::uint32_t until_update = 0, cycle, zeros, total, zero_share;

  void reset() { until_update = 0; }

  void begin() {
    zeros = 1;
    total = 2;
    zero_share = 1U << (kBitBits - 1);
    until_update = cycle = 4;
  }

  void update() {
    total += cycle;
    if (total > kMaxBitCount) {
      total = (total + 1) >> 1;
      zeros = (zeros + 1) >> 1;
      if (zeros == total) ++total;
    }
    zero_share = (zeros * (0x80000000U / total)) >> (31 - kBitBits);
    cycle = std::min<std::uint32_t>((5 * cycle) >> 2, 64);
    until_update = cycle;
  }
};

}  // namespace pc::io::laz
