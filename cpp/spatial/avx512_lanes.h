#pragma once
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
// False in GCC 12's own header (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#else
#include <immintrin.h>
#endif

#include <cstddef>
#include <cstdint>

#include "spatial/packed.h"

/// Numbers side by side in AVX-512 registers, for packets of rays. The including file sets PC_LANES_TARGET.
namespace pc::avx512 {

/// The operations on masks, which have a bit per number.
#define PC_AVX512_MASKS(Mask, prefix, suffix)                                           \
  using Bits = Mask;                                                                    \
  PC_LANES_TARGET static std::uint64_t bits(Bits v) { return v; }                       \
  PC_LANES_TARGET static Bits mask(std::uint64_t v) { return static_cast<Bits>(v); }    \
  PC_LANES_TARGET static Bits both(Bits a, Bits b) { return static_cast<Bits>(a & b); } \
  PC_LANES_TARGET static Bits less(Register a, Register b) {                            \
    return prefix##_cmp_##suffix##_mask(a, b, _CMP_LT_OQ);                              \
  }                                                                                     \
  PC_LANES_TARGET static Bits at_most(Register a, Register b) {                         \
    return prefix##_cmp_##suffix##_mask(a, b, _CMP_LE_OQ);                              \
  }                                                                                     \
  PC_LANES_TARGET static Bits equal(Register a, Register b) {                           \
    return prefix##_cmp_##suffix##_mask(a, b, _CMP_EQ_OQ);                              \
  }                                                                                     \
  PC_LANES_TARGET static Register chosen(Bits mask, Register yes, Register no) {        \
    return prefix##_mask_blend_##suffix(mask, no, yes);                                 \
  }                                                                                     \
  PC_LANES_TARGET static Register magnitude(Register a) {                               \
    return prefix##_andnot_##suffix(all(static_cast<Value>(-0.0)), a);                  \
  }

struct DoublesSet;

struct HalvesSet {
  PC_PACKED_ARITHMETIC(__m256, float, 8, _mm256, ps)
  PC_AVX512_MASKS(__mmask8, _mm256, ps)
  using Wide = DoublesSet;
  PC_LANES_TARGET static __m512d widened(Register v) { return _mm512_cvtps_pd(v); }
};

struct FloatsSet {
  PC_PACKED_ARITHMETIC(__m512, float, 16, _mm512, ps)
  PC_AVX512_MASKS(__mmask16, _mm512, ps)
};

struct DoublesSet {
  PC_PACKED_ARITHMETIC(__m512d, double, 8, _mm512, pd)
  PC_AVX512_MASKS(__mmask8, _mm512, pd)
  using Single = HalvesSet;
  PC_LANES_TARGET static __m256 rounded(Register v) { return _mm512_cvtpd_ps(v); }
};

#undef PC_AVX512_MASKS

using Floats = Packed<FloatsSet>;    ///< single precision
using Halves = Packed<HalvesSet>;    ///< single precision, as many as Doubles and as children of a node
using Doubles = Packed<DoublesSet>;  ///< double precision

}  // namespace pc::avx512
