#include "spatial/knn_kernels.h"

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>

#include <bit>
#if defined(_MSC_VER)
#include <intrin.h>
#define PC_AVX512
#else
#define PC_AVX512 __attribute__((target("avx512f,popcnt")))
#endif

namespace pc {

namespace {

constexpr std::size_t kLanes = 16;  // per step

/// Mask of the lanes below `count`.
PC_AVX512 inline __mmask16 lanes_before(std::size_t count) {
  return static_cast<__mmask16>(count < kLanes ? (1U << count) - 1 : 0xffffU);
}

PC_AVX512 inline std::size_t count_of(__mmask16 mask) {
  return static_cast<std::size_t>(std::popcount(static_cast<unsigned>(mask)));
}

PC_AVX512 inline __m512i starting_at(std::size_t i) {
  return _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(i)),
                          _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

/// Compressed in a register: compressing stores are slow on Zen 4 and 5.
PC_AVX512 inline void store_lanes(float* to, __m512 values, __mmask16 mask) {
  _mm512_storeu_ps(to, _mm512_maskz_compress_ps(mask, values));
}

PC_AVX512 inline void store_lanes(std::uint32_t* to, __m512i values, __mmask16 mask) {
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(mask, values));
}

PC_AVX512 inline __m512 squares(__m512 x, __m512 y, __m512 z) {
  return _mm512_add_ps(_mm512_add_ps(_mm512_mul_ps(x, x), _mm512_mul_ps(y, y)), _mm512_mul_ps(z, z));
}

/// The greater of a, b and 0. Masked with all lanes: GCC 12 warns of the plain form (GCC bug 105593).
PC_AVX512 inline __m512 greatest(__m512 a, __m512 b) {
  const __m512 zero = _mm512_setzero_ps();
  return _mm512_maskz_max_ps(0xffff, _mm512_maskz_max_ps(0xffff, a, b), zero);
}

PC_AVX512 inline __m512 beyond(__m512 value, float min, float max) {
  return greatest(_mm512_sub_ps(_mm512_set1_ps(min), value), _mm512_sub_ps(value, _mm512_set1_ps(max)));
}

PC_AVX512 inline __m512 gap(const float* min, const float* max, float box_min, float box_max) {
  return greatest(_mm512_sub_ps(_mm512_set1_ps(box_min), _mm512_loadu_ps(max)),
                  _mm512_sub_ps(_mm512_loadu_ps(min), _mm512_set1_ps(box_max)));
}

PC_AVX512 void localize(const double* values, std::size_t count, double origin, double scale, float* local) {
  const __m512d from = _mm512_set1_pd(origin), factor = _mm512_set1_pd(scale);
  for (std::size_t i = 0; i < count; i += 8) {
    const auto lanes = static_cast<__mmask8>(lanes_before(count - i));
    const __m512d value = _mm512_maskz_loadu_pd(lanes, values + i);
    _mm256_storeu_ps(local + i,
                     _mm512_maskz_cvtpd_ps(0xff, _mm512_mul_pd(_mm512_sub_pd(value, from), factor)));
  }
}

PC_AVX512 std::size_t near_boxes(const LocalBoxes& boxes, std::size_t count, const LocalBox& box, float limit,
                                 std::uint32_t* index) {
  const __m512 most = _mm512_set1_ps(limit);
  std::size_t found = 0;
  for (std::size_t block = 0; block < count; block += kLanes) {
    const __m512 squared = squares(gap(boxes.min[0] + block, boxes.max[0] + block, box.min[0], box.max[0]),
                                   gap(boxes.min[1] + block, boxes.max[1] + block, box.min[1], box.max[1]),
                                   gap(boxes.min[2] + block, boxes.max[2] + block, box.min[2], box.max[2]));
    const __mmask16 mask = _mm512_mask_cmp_ps_mask(lanes_before(count - block), squared, most, _CMP_LE_OQ);
    store_lanes(index + found, starting_at(block), mask);
    found += count_of(mask);
  }
  return found;
}

PC_AVX512 std::size_t filter(const LocalPoints& points, std::size_t begin, std::size_t end,
                             const LocalBox& box, float limit, float* x, float* y, float* z,
                             std::uint32_t* index, std::size_t at) {
  const __m512 most = _mm512_set1_ps(limit);
  for (std::size_t block = begin; block < end; block += kLanes) {
    const __m512 px = _mm512_loadu_ps(points.x + block), py = _mm512_loadu_ps(points.y + block),
                 pz = _mm512_loadu_ps(points.z + block);
    const __m512 squared = squares(beyond(px, box.min[0], box.max[0]), beyond(py, box.min[1], box.max[1]),
                                   beyond(pz, box.min[2], box.max[2]));
    const __mmask16 mask = _mm512_mask_cmp_ps_mask(lanes_before(end - block), squared, most, _CMP_LE_OQ);
    store_lanes(x + at, px, mask);
    store_lanes(y + at, py, mask);
    store_lanes(z + at, pz, mask);
    store_lanes(index + at, starting_at(block), mask);
    at += count_of(mask);
  }
  return at;
}

PC_AVX512 std::size_t select(const LocalPoints& points, std::size_t count, float x, float y, float z,
                             float limit, float* squared, std::uint32_t* index) {
  const __m512 qx = _mm512_set1_ps(x), qy = _mm512_set1_ps(y), qz = _mm512_set1_ps(z),
               most = _mm512_set1_ps(limit);
  std::size_t selected = 0;
  for (std::size_t i = 0; i < count; i += kLanes) {
    const __m512 values = squares(_mm512_sub_ps(_mm512_loadu_ps(points.x + i), qx),
                                  _mm512_sub_ps(_mm512_loadu_ps(points.y + i), qy),
                                  _mm512_sub_ps(_mm512_loadu_ps(points.z + i), qz));
    const __mmask16 mask = _mm512_mask_cmp_ps_mask(lanes_before(count - i), values, most, _CMP_LE_OQ);
    store_lanes(squared + selected, values, mask);
    store_lanes(index + selected, starting_at(i), mask);
    selected += count_of(mask);
  }
  return selected;
}

PC_AVX512 std::uint32_t count_below(const float* values, std::size_t count, float limit) {
  const __m512 most = _mm512_set1_ps(limit);
  std::size_t below = 0;
  for (std::size_t i = 0; i < count; i += kLanes)
    below += count_of(
        _mm512_mask_cmp_ps_mask(lanes_before(count - i), _mm512_loadu_ps(values + i), most, _CMP_LE_OQ));
  return static_cast<std::uint32_t>(below);
}

PC_AVX512 std::size_t narrow(float* values, std::uint32_t* index, std::size_t count, float limit) {
  const __m512 most = _mm512_set1_ps(limit);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; i += kLanes) {
    const __m512 value = _mm512_loadu_ps(values + i);
    const __m512i place = _mm512_loadu_si512(index + i);
    const __mmask16 mask = _mm512_mask_cmp_ps_mask(lanes_before(count - i), value, most, _CMP_LE_OQ);
    store_lanes(values + kept, value, mask);
    store_lanes(index + kept, place, mask);
    kept += count_of(mask);
  }
  return kept;
}

PC_AVX512 void rank(const std::int32_t* keys, std::size_t count, std::int32_t* rank) {
  const __m512i one = _mm512_set1_epi32(1);
  for (std::size_t block = 0; block < count; block += 2 * kLanes) {
    const bool is_two = count - block > kLanes;
    const __m512i first = _mm512_loadu_si512(keys + block),
                  second = _mm512_loadu_si512(keys + block + (is_two ? kLanes : 0));
    __m512i below_first = _mm512_setzero_si512(), below_second = _mm512_setzero_si512();
    for (std::size_t j = 0; j < count; ++j) {
      const __m512i key = _mm512_set1_epi32(keys[j]);
      below_first = _mm512_mask_add_epi32(below_first, _mm512_cmpgt_epi32_mask(first, key), below_first, one);
      below_second =
          _mm512_mask_add_epi32(below_second, _mm512_cmpgt_epi32_mask(second, key), below_second, one);
    }
    _mm512_storeu_si512(rank + block, below_first);
    if (is_two) _mm512_storeu_si512(rank + block + kLanes, below_second);
  }
}

/// AVX-512 F and VBMI2.
bool has_avx512() {
#if defined(_MSC_VER) && !defined(__clang__)
  int leaf[4];
  __cpuid(leaf, 1);
  const bool saves_zmm = (leaf[2] >> 27 & 1) != 0 && (_xgetbv(0) & 0xe6) == 0xe6;
  __cpuidex(leaf, 7, 0);
  return saves_zmm && (leaf[1] >> 16 & 1) != 0 && (leaf[2] >> 6 & 1) != 0;
#else
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vbmi2") != 0;
#endif
}

}  // namespace

const KnnKernels* avx512_knn_kernels() {
  static constexpr KnnKernels kKernels{localize, near_boxes, filter, select, count_below, narrow, rank};
  static const bool supported = has_avx512();
  return supported ? &kKernels : nullptr;
}

}  // namespace pc

#else

namespace pc {
const KnnKernels* avx512_knn_kernels() { return nullptr; }
}  // namespace pc

#endif
