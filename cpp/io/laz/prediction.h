#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#endif

#include "io/laz/range_model.h"

/// Predictors shared by the point codecs of several versions.
namespace pc::io::laz {

/// The running median of x and y differences: five sorted values. A new value replaces the largest one until a value is
/// inserted at or above the middle, then the smallest one until a value is inserted at or below it, and so on.
/// Source: LASzip specification, "Second order prediction of x and y" (streaming median).
class StreamingMedian5 {
 public:
  void reset() {
    stay_.fill(0);
    middle_ = 0;
    drop_high_ = ~0;
  }
  std::int32_t get() const { return middle_; }
  /// Branch-free: inserts the value among the four that stay, whichever end was dropped. The four are written and read
  /// as a whole, because a read of several writes waits for all of them to reach the cache.
  PC_INLINE void add(std::int32_t value) {
    const std::int32_t middle = middle_;
    drop_high_ = -static_cast<std::int32_t>(
        static_cast<unsigned>(value < middle) |
        (static_cast<unsigned>(~drop_high_) & static_cast<unsigned>(value == middle)));
#if defined(__SSE2__) || defined(_M_X64)
    __m128i* const at = reinterpret_cast<__m128i*>(stay_.data());
    const __m128i four = _mm_load_si128(at), same = _mm_set1_epi32(value);
    const __m128i lower = smaller(four, same);
    const __m128i upper = larger(four, _mm_or_si128(_mm_srli_si128(lower, 4), _mm_slli_si128(same, 12)));
    const __m128i low_four =
        _mm_castps_si128(_mm_move_ss(_mm_castsi128_ps(_mm_slli_si128(upper, 4)), _mm_castsi128_ps(lower)));
    const __m128i drop = _mm_set1_epi32(drop_high_);
    _mm_store_si128(at, _mm_or_si128(_mm_and_si128(drop, low_four), _mm_andnot_si128(drop, upper)));
    middle_ = _mm_cvtsi128_si32(_mm_shuffle_epi32(upper, 1));
#else
    const auto [a, b, c, d] = stay_;
    const std::array<std::int32_t, 5> five{std::min(a, value), std::max(a, std::min(b, value)),
                                           std::max(b, std::min(c, value)), std::max(c, std::min(d, value)),
                                           std::max(d, value)};
    std::copy_n(five.begin() + (drop_high_ != 0 ? 0 : 1), 4, stay_.begin());
    middle_ = five[2];
#endif
  }

 private:
#if defined(__SSE2__) || defined(_M_X64)
  static PC_INLINE __m128i smaller(__m128i a, __m128i b) {
    const __m128i above = _mm_cmpgt_epi32(a, b);
    return _mm_or_si128(_mm_and_si128(above, b), _mm_andnot_si128(above, a));
  }
  static PC_INLINE __m128i larger(__m128i a, __m128i b) {
    const __m128i above = _mm_cmpgt_epi32(a, b);
    return _mm_or_si128(_mm_and_si128(above, a), _mm_andnot_si128(above, b));
  }
#endif
  alignas(16) std::array<std::int32_t, 4> stay_{};  ///< the five without the one to be dropped
  std::int32_t middle_ = 0;
  std::int32_t drop_high_ = ~0;  ///< all bits: the largest is to be dropped; none: the smallest
};

using ReturnTable8 = std::array<std::array<std::uint8_t, 8>, 8>;
using ReturnTable16 = std::array<std::array<std::uint8_t, 16>, 16>;

/// Context of the return pair [number of returns][return number] of formats 0 to 5.
/// Source: LASzip 2 specification, table "number_return_map".
constexpr ReturnTable8 kReturnMap8 = {{{15, 14, 13, 12, 11, 10, 9, 8},
                                       {14, 0, 1, 3, 6, 10, 10, 9},
                                       {13, 1, 2, 4, 7, 11, 11, 10},
                                       {12, 3, 4, 5, 8, 12, 12, 11},
                                       {11, 6, 7, 8, 9, 13, 13, 12},
                                       {10, 10, 11, 12, 13, 14, 14, 13},
                                       {9, 10, 11, 12, 13, 14, 15, 14},
                                       {8, 9, 10, 11, 12, 13, 14, 15}}};

/// Context of the return pair of formats 6 to 10: six values.
/// Source: LASzip 3 specification document, table "number_return_map_6ctx".
constexpr ReturnTable16 kReturnMap16 = {{{0, 1, 2, 3, 4, 5, 3, 4, 4, 5, 5, 5, 5, 5, 5, 5},
                                         {1, 0, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3},
                                         {2, 1, 2, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3},
                                         {3, 3, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
                                         {4, 3, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
                                         {5, 3, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
                                         {3, 3, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4},
                                         {4, 3, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4},
                                         {4, 3, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4},
                                         {5, 3, 4, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4},
                                         {5, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4},
                                         {5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 4, 4, 4},
                                         {5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 4, 4},
                                         {5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 4},
                                         {5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5},
                                         {5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5}}};

/// Distance of a return from the last return of its pulse, used as context of heights: |n - r|, at most 7.
/// Source: LASzip 3 specification document, table "number_return_level_8ctx" (closed form of it).
constexpr std::uint32_t return_level(std::uint32_t n, std::uint32_t r) {
  return std::min(n > r ? n - r : r - n, 7U);
}

/// k with its lowest bit cleared, at most `most`: the part of a context that a bit width chooses.
constexpr std::uint32_t width_context(std::uint32_t k, std::uint32_t most) {
  return k < most ? k & ~1U : most;
}

constexpr std::int32_t clamp_byte(std::int32_t value) { return std::clamp(value, 0, 255); }

}  // namespace pc::io::laz
