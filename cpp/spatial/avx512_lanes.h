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

/// Numbers side by side in AVX-512 registers, for packets of rays. The including file sets PC_LANES_TARGET.
namespace pc::avx512 {

struct Doubles;

/// Single precision, as many as Doubles and as children of a node.
struct Halves {
  static constexpr std::size_t kSize = 8;
  struct Mask {
    __mmask8 v;
    PC_LANES_TARGET std::uint64_t bits() const { return v; }
    PC_LANES_TARGET friend Mask operator&(const Mask& a, const Mask& b) {
      return {static_cast<__mmask8>(a.v & b.v)};
    }
  };
  __m256 v;

  PC_LANES_TARGET static Halves load(const float* from) { return {_mm256_load_ps(from)}; }
  PC_LANES_TARGET static Halves all(float value) { return {_mm256_set1_ps(value)}; }
  PC_LANES_TARGET void store(float* to) const { _mm256_store_ps(to, v); }
  PC_LANES_TARGET friend Halves operator+(const Halves& a, const Halves& b) {
    return {_mm256_add_ps(a.v, b.v)};
  }
  PC_LANES_TARGET friend Halves operator-(const Halves& a, const Halves& b) {
    return {_mm256_sub_ps(a.v, b.v)};
  }
  PC_LANES_TARGET friend Halves operator*(const Halves& a, const Halves& b) {
    return {_mm256_mul_ps(a.v, b.v)};
  }
  PC_LANES_TARGET friend Halves operator/(const Halves& a, const Halves& b) {
    return {_mm256_div_ps(a.v, b.v)};
  }
  PC_LANES_TARGET friend Mask operator<(const Halves& a, const Halves& b) {
    return {_mm256_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)};
  }
  PC_LANES_TARGET friend Mask operator<=(const Halves& a, const Halves& b) {
    return {_mm256_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)};
  }
  PC_LANES_TARGET friend Mask operator==(const Halves& a, const Halves& b) {
    return {_mm256_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)};
  }
  /// The second if either is no number.
  PC_LANES_TARGET static Halves lesser(const Halves& a, const Halves& b) { return {_mm256_min_ps(a.v, b.v)}; }
  PC_LANES_TARGET static Halves greater(const Halves& a, const Halves& b) {
    return {_mm256_max_ps(a.v, b.v)};
  }
  PC_LANES_TARGET friend Halves abs(const Halves& a) {
    return {_mm256_andnot_ps(_mm256_set1_ps(-0.0F), a.v)};
  }
  PC_LANES_TARGET friend Halves select(const Mask& mask, const Halves& yes, const Halves& no) {
    return {_mm256_mask_blend_ps(mask.v, no.v, yes.v)};
  }
  PC_LANES_TARGET Doubles wide() const;
};

/// Single precision.
struct Floats {
  static constexpr std::size_t kSize = 16;
  struct Mask {
    __mmask16 v;
    PC_LANES_TARGET std::uint64_t bits() const { return v; }
    PC_LANES_TARGET friend Mask operator&(const Mask& a, const Mask& b) {
      return {static_cast<__mmask16>(a.v & b.v)};
    }
  };
  __m512 v;

  PC_LANES_TARGET static Floats load(const float* from) { return {_mm512_load_ps(from)}; }
  PC_LANES_TARGET static Floats all(float value) { return {_mm512_set1_ps(value)}; }
  PC_LANES_TARGET void store(float* to) const { _mm512_store_ps(to, v); }
  PC_LANES_TARGET friend Floats operator+(const Floats& a, const Floats& b) {
    return {_mm512_add_ps(a.v, b.v)};
  }
  PC_LANES_TARGET friend Floats operator-(const Floats& a, const Floats& b) {
    return {_mm512_sub_ps(a.v, b.v)};
  }
  PC_LANES_TARGET friend Floats operator*(const Floats& a, const Floats& b) {
    return {_mm512_mul_ps(a.v, b.v)};
  }
  PC_LANES_TARGET friend Floats operator/(const Floats& a, const Floats& b) {
    return {_mm512_div_ps(a.v, b.v)};
  }
  PC_LANES_TARGET friend Mask operator<(const Floats& a, const Floats& b) {
    return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)};
  }
  PC_LANES_TARGET friend Mask operator<=(const Floats& a, const Floats& b) {
    return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)};
  }
  PC_LANES_TARGET friend Mask operator==(const Floats& a, const Floats& b) {
    return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)};
  }
  /// The second if either is no number.
  PC_LANES_TARGET static Floats lesser(const Floats& a, const Floats& b) { return {_mm512_min_ps(a.v, b.v)}; }
  PC_LANES_TARGET static Floats greater(const Floats& a, const Floats& b) {
    return {_mm512_max_ps(a.v, b.v)};
  }
  PC_LANES_TARGET friend Floats abs(const Floats& a) { return {_mm512_abs_ps(a.v)}; }
  PC_LANES_TARGET friend Floats select(const Mask& mask, const Floats& yes, const Floats& no) {
    return {_mm512_mask_blend_ps(mask.v, no.v, yes.v)};
  }
  /// a * b - c, rounded once.
  PC_LANES_TARGET friend Floats product_less(const Floats& a, const Floats& b, const Floats& c) {
    return {_mm512_fmsub_ps(a.v, b.v, c.v)};
  }
};

/// Double precision.
struct Doubles {
  static constexpr std::size_t kSize = 8;
  struct Mask {
    __mmask8 v;
    PC_LANES_TARGET std::uint64_t bits() const { return v; }
    PC_LANES_TARGET friend Mask operator&(const Mask& a, const Mask& b) {
      return {static_cast<__mmask8>(a.v & b.v)};
    }
  };
  __m512d v;

  PC_LANES_TARGET static Doubles load(const double* from) { return {_mm512_load_pd(from)}; }
  PC_LANES_TARGET static Doubles all(double value) { return {_mm512_set1_pd(value)}; }
  PC_LANES_TARGET void store(double* to) const { _mm512_store_pd(to, v); }
  PC_LANES_TARGET friend Doubles operator+(const Doubles& a, const Doubles& b) {
    return {_mm512_add_pd(a.v, b.v)};
  }
  PC_LANES_TARGET friend Doubles operator-(const Doubles& a, const Doubles& b) {
    return {_mm512_sub_pd(a.v, b.v)};
  }
  PC_LANES_TARGET friend Doubles operator*(const Doubles& a, const Doubles& b) {
    return {_mm512_mul_pd(a.v, b.v)};
  }
  PC_LANES_TARGET friend Doubles operator/(const Doubles& a, const Doubles& b) {
    return {_mm512_div_pd(a.v, b.v)};
  }
  PC_LANES_TARGET friend Mask operator<(const Doubles& a, const Doubles& b) {
    return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_LT_OQ)};
  }
  PC_LANES_TARGET friend Mask operator<=(const Doubles& a, const Doubles& b) {
    return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_LE_OQ)};
  }
  PC_LANES_TARGET friend Mask operator==(const Doubles& a, const Doubles& b) {
    return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_EQ_OQ)};
  }
  /// The second if either is no number.
  PC_LANES_TARGET static Doubles lesser(const Doubles& a, const Doubles& b) {
    return {_mm512_min_pd(a.v, b.v)};
  }
  PC_LANES_TARGET static Doubles greater(const Doubles& a, const Doubles& b) {
    return {_mm512_max_pd(a.v, b.v)};
  }
  PC_LANES_TARGET friend Doubles abs(const Doubles& a) { return {_mm512_abs_pd(a.v)}; }
  PC_LANES_TARGET friend Doubles select(const Mask& mask, const Doubles& yes, const Doubles& no) {
    return {_mm512_mask_blend_pd(mask.v, no.v, yes.v)};
  }
  PC_LANES_TARGET Halves single() const { return {_mm512_cvtpd_ps(v)}; }
};

PC_LANES_TARGET inline Doubles Halves::wide() const { return {_mm512_cvtps_pd(v)}; }

}  // namespace pc::avx512
