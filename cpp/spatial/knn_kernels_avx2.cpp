#include "spatial/knn_kernels.h"

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>

#include <array>
#include <bit>

#include "core/processor.h"
#if defined(_MSC_VER)
#define PC_AVX2
#else
#define PC_AVX2 __attribute__((target("avx2,popcnt")))
#endif

namespace pc {

namespace {

constexpr std::size_t kLanes = 8;  // per step

/// For each mask of eight lanes, the indices of the set lanes, ascending.
struct LaneLists {
  alignas(8) std::array<std::array<std::uint8_t, 8>, 256> of{};
  constexpr LaneLists() {
    for (std::size_t mask = 0; mask < 256; ++mask) {
      std::size_t count = 0;
      for (std::uint8_t lane = 0; lane < 8; ++lane)
        if ((mask >> lane & 1) != 0) of[mask][count++] = lane;
    }
  }
};
constexpr LaneLists kLists;

PC_AVX2 inline __m256i lanes_of(unsigned mask) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(kLists.of[mask].data())));
}

PC_AVX2 inline __m256i lane_numbers() { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }

PC_AVX2 inline __m256i starting_at(std::size_t i) {
  return _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(i)), lane_numbers());
}

PC_AVX2 inline void store_lanes(float* to, __m256 values, __m256i lanes) {
  _mm256_storeu_ps(to, _mm256_permutevar8x32_ps(values, lanes));
}

PC_AVX2 inline void store_lanes(std::uint32_t* to, __m256i values, __m256i lanes) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permutevar8x32_epi32(values, lanes));
}

/// Mask of the lanes below `count`.
PC_AVX2 inline unsigned lanes_before(std::size_t count) { return count < kLanes ? (1U << count) - 1 : 0xffU; }

PC_AVX2 inline __m256 squares(__m256 x, __m256 y, __m256 z) {
  return _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(x, x), _mm256_mul_ps(y, y)), _mm256_mul_ps(z, z));
}

PC_AVX2 inline __m256 beyond(__m256 value, float min, float max) {
  const __m256 below = _mm256_sub_ps(_mm256_set1_ps(min), value);
  const __m256 above = _mm256_sub_ps(value, _mm256_set1_ps(max));
  return _mm256_max_ps(_mm256_max_ps(below, above), _mm256_setzero_ps());
}

PC_AVX2 inline unsigned at_most(__m256 values, __m256 limit) {
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(values, limit, _CMP_LE_OQ)));
}

PC_AVX2 inline __m256 gap(const float* min, const float* max, float box_min, float box_max) {
  const __m256 below = _mm256_sub_ps(_mm256_set1_ps(box_min), _mm256_loadu_ps(max));
  const __m256 above = _mm256_sub_ps(_mm256_loadu_ps(min), _mm256_set1_ps(box_max));
  return _mm256_max_ps(_mm256_max_ps(below, above), _mm256_setzero_ps());
}

PC_AVX2 void localize(const double* values, std::size_t count, double origin, double scale, float* local) {
  const __m256d from = _mm256_set1_pd(origin), factor = _mm256_set1_pd(scale);
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4)
    _mm_storeu_ps(local + i,
                  _mm256_cvtpd_ps(_mm256_mul_pd(_mm256_sub_pd(_mm256_loadu_pd(values + i), from), factor)));
  for (; i < count; ++i) local[i] = static_cast<float>((values[i] - origin) * scale);
}

PC_AVX2 std::size_t near_boxes(const LocalBoxes& boxes, std::size_t count, const LocalBox& box, float limit,
                               std::uint32_t* index) {
  const __m256 most = _mm256_set1_ps(limit);
  std::size_t found = 0;
  for (std::size_t block = 0; block < count; block += kLanes) {
    const unsigned mask =
        at_most(squares(gap(boxes.min[0] + block, boxes.max[0] + block, box.min[0], box.max[0]),
                        gap(boxes.min[1] + block, boxes.max[1] + block, box.min[1], box.max[1]),
                        gap(boxes.min[2] + block, boxes.max[2] + block, box.min[2], box.max[2])),
                most) &
        lanes_before(count - block);
    store_lanes(index + found, starting_at(block), lanes_of(mask));
    found += static_cast<std::size_t>(std::popcount(mask));
  }
  return found;
}

PC_AVX2 std::size_t filter(const LocalPoints& points, std::size_t begin, std::size_t end, const LocalBox& box,
                           float limit, float* x, float* y, float* z, std::uint32_t* index, std::size_t at) {
  const __m256 most = _mm256_set1_ps(limit);
  for (std::size_t block = begin; block < end; block += kLanes) {
    const __m256 px = _mm256_loadu_ps(points.x + block), py = _mm256_loadu_ps(points.y + block),
                 pz = _mm256_loadu_ps(points.z + block);
    const unsigned mask =
        at_most(squares(beyond(px, box.min[0], box.max[0]), beyond(py, box.min[1], box.max[1]),
                        beyond(pz, box.min[2], box.max[2])),
                most) &
        lanes_before(end - block);
    const __m256i lanes = lanes_of(mask);
    store_lanes(x + at, px, lanes);
    store_lanes(y + at, py, lanes);
    store_lanes(z + at, pz, lanes);
    store_lanes(index + at, starting_at(block), lanes);
    at += static_cast<std::size_t>(std::popcount(mask));
  }
  return at;
}

PC_AVX2 std::size_t select(const LocalPoints& points, std::size_t count, float x, float y, float z,
                           float limit, float* squared, std::uint32_t* index) {
  const __m256 qx = _mm256_set1_ps(x), qy = _mm256_set1_ps(y), qz = _mm256_set1_ps(z),
               most = _mm256_set1_ps(limit);
  std::size_t selected = 0;
  for (std::size_t i = 0; i < count; i += kLanes) {
    const __m256 values = squares(_mm256_sub_ps(_mm256_loadu_ps(points.x + i), qx),
                                  _mm256_sub_ps(_mm256_loadu_ps(points.y + i), qy),
                                  _mm256_sub_ps(_mm256_loadu_ps(points.z + i), qz));
    const unsigned mask = at_most(values, most) & lanes_before(count - i);
    const __m256i lanes = lanes_of(mask);
    store_lanes(squared + selected, values, lanes);
    store_lanes(index + selected, starting_at(i), lanes);
    selected += static_cast<std::size_t>(std::popcount(mask));
  }
  return selected;
}

PC_AVX2 std::uint32_t count_below(const float* values, std::size_t count, float limit) {
  const __m256 most = _mm256_set1_ps(limit);
  int below = 0;
  for (std::size_t i = 0; i < count; i += kLanes)
    below += std::popcount(at_most(_mm256_loadu_ps(values + i), most) & lanes_before(count - i));
  return static_cast<std::uint32_t>(below);
}

PC_AVX2 std::size_t narrow(float* values, std::uint32_t* index, std::size_t count, float limit) {
  const __m256 most = _mm256_set1_ps(limit);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; i += kLanes) {
    const __m256 value = _mm256_loadu_ps(values + i);
    const __m256i place = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(index + i));
    const unsigned mask = at_most(value, most) & lanes_before(count - i);
    const __m256i lanes = lanes_of(mask);
    store_lanes(values + kept, value, lanes);
    store_lanes(index + kept, place, lanes);
    kept += static_cast<std::size_t>(std::popcount(mask));
  }
  return kept;
}

PC_AVX2 void rank(const std::int32_t* keys, std::size_t count, std::int32_t* rank) {
  for (std::size_t block = 0; block < count; block += kLanes) {
    const __m256i own = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys + block));
    __m256i below = _mm256_setzero_si256();
    for (std::size_t j = 0; j < count; ++j)
      below = _mm256_sub_epi32(below, _mm256_cmpgt_epi32(own, _mm256_set1_epi32(keys[j])));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(rank + block), below);
  }
}

}  // namespace

const KnnKernels* avx2_knn_kernels() {
  static constexpr KnnKernels kKernels{localize, near_boxes, filter, select, count_below, narrow, rank};
  return has_avx2() ? &kKernels : nullptr;
}

}  // namespace pc

#else

namespace pc {
const KnnKernels* avx2_knn_kernels() { return nullptr; }
}  // namespace pc

#endif
