#pragma once
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "spatial/packed.h"

/// Numbers side by side in AVX2 registers, for packets of rays. The including file sets PC_LANES_TARGET.
namespace pc::avx2 {

/// The operations on masks, which are registers like those of the numbers.
#define PC_AVX2_MASKS(prefix, suffix)                                                      \
  using Bits = Register;                                                                   \
  PC_LANES_TARGET static std::uint64_t bits(Bits v) {                                      \
    return static_cast<unsigned>(prefix##_movemask_##suffix(v));                           \
  }                                                                                        \
  PC_LANES_TARGET static Bits both(Bits a, Bits b) { return prefix##_and_##suffix(a, b); } \
  PC_LANES_TARGET static Bits less(Register a, Register b) {                               \
    return prefix##_cmp_##suffix(a, b, _CMP_LT_OQ);                                        \
  }                                                                                        \
  PC_LANES_TARGET static Bits at_most(Register a, Register b) {                            \
    return prefix##_cmp_##suffix(a, b, _CMP_LE_OQ);                                        \
  }                                                                                        \
  PC_LANES_TARGET static Bits equal(Register a, Register b) {                              \
    return prefix##_cmp_##suffix(a, b, _CMP_EQ_OQ);                                        \
  }                                                                                        \
  PC_LANES_TARGET static Register chosen(Bits mask, Register yes, Register no) {           \
    return prefix##_blendv_##suffix(no, yes, mask);                                        \
  }                                                                                        \
  PC_LANES_TARGET static Register magnitude(Register a) {                                  \
    return prefix##_andnot_##suffix(all(static_cast<Value>(-0.0)), a);                     \
  }

struct DoublesSet;

struct HalvesSet {
  PC_PACKED_ARITHMETIC(__m128, float, 4, _mm, ps)
  PC_AVX2_MASKS(_mm, ps)
  using Wide = DoublesSet;
  PC_LANES_TARGET static __m256d widened(Register v) { return _mm256_cvtps_pd(v); }
};

struct FloatsSet {
  PC_PACKED_ARITHMETIC(__m256, float, 8, _mm256, ps)
  PC_AVX2_MASKS(_mm256, ps)
};

struct DoublesSet {
  PC_PACKED_ARITHMETIC(__m256d, double, 4, _mm256, pd)
  PC_AVX2_MASKS(_mm256, pd)
  using Single = HalvesSet;
  PC_LANES_TARGET static __m256d mask(std::uint64_t v) {
    const __m256i lanes = _mm256_set_epi64x(8, 4, 2, 1);
    const __m256i set = _mm256_and_si256(_mm256_set1_epi64x(static_cast<long long>(v)), lanes);
    return _mm256_castsi256_pd(_mm256_cmpeq_epi64(set, lanes));
  }
  PC_LANES_TARGET static __m128 rounded(Register v) { return _mm256_cvtpd_ps(v); }
};

#undef PC_AVX2_MASKS

using Floats = Packed<FloatsSet>;    ///< single precision
using Halves = Packed<HalvesSet>;    ///< single precision, as many as Doubles
using Doubles = Packed<DoublesSet>;  ///< double precision

}  // namespace pc::avx2
