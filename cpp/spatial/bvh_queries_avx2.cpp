#include "spatial/bvh_queries.h"

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>

#include <cstddef>
#if defined(_MSC_VER)
#include <intrin.h>
#define PC_LANES_TARGET
#else
#define PC_LANES_TARGET __attribute__((target("avx2,popcnt")))
#endif
#include "spatial/bvh_query_loops.h"

namespace pc {

namespace {

/// The same operations in the same order as bvh::PlainLanes, eight lanes at once.
struct Avx2Lanes {
  PC_LANES_TARGET static unsigned distances(const bvh::Node& node, const bvh::PointInterval& p, float& limit,
                                            float* squared) {
    __m256 sum = _mm256_setzero_ps(), reach = _mm256_setzero_ps();
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const __m256 below = _mm256_sub_ps(_mm256_load_ps(node.min[axis]), _mm256_broadcast_ss(&p.high[axis]));
      const __m256 above = _mm256_sub_ps(_mm256_broadcast_ss(&p.low[axis]), _mm256_load_ps(node.max[axis]));
      const __m256 gap = _mm256_max_ps(_mm256_max_ps(below, above), _mm256_setzero_ps());
      sum = _mm256_add_ps(sum, _mm256_mul_ps(gap, gap));
      const __m256 far = _mm256_min_ps(below, above);
      reach = _mm256_add_ps(reach, _mm256_mul_ps(far, far));
    }
    reach = _mm256_add_ps(_mm256_mul_ps(reach, _mm256_set1_ps(bvh::kReachSlack)),
                          _mm256_set1_ps(bvh::kLeastNormal));
    __m128 least = _mm_min_ps(_mm256_castps256_ps128(reach), _mm256_extractf128_ps(reach, 1));
    least = _mm_min_ps(least, _mm_movehl_ps(least, least));
    least = _mm_min_ss(least, _mm_shuffle_ps(least, least, 1));
    limit = _mm_cvtss_f32(_mm_min_ss(least, _mm_set_ss(limit)));
    _mm256_storeu_ps(squared, sum);
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(sum, _mm256_set1_ps(limit), _CMP_LE_OQ)));
  }

  PC_LANES_TARGET static unsigned slabs(const bvh::Node& node, const bvh::BoxRay& ray, float limit,
                                        float* enter) {
    __m256 near = _mm256_set1_ps(ray.t_min), far = _mm256_set1_ps(limit);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const __m256 inverse = _mm256_broadcast_ss(&ray.inverse[axis]);
      const __m256 low = _mm256_mul_ps(
          _mm256_sub_ps(_mm256_load_ps(node.min[axis]), _mm256_broadcast_ss(&ray.origin.high[axis])),
          inverse);
      const __m256 high = _mm256_mul_ps(
          _mm256_sub_ps(_mm256_load_ps(node.max[axis]), _mm256_broadcast_ss(&ray.origin.low[axis])), inverse);
      const bool forward = ray.inverse[axis] >= 0;
      near = _mm256_max_ps(forward ? low : high, near);
      far = _mm256_min_ps(forward ? high : low, far);
    }
    _mm256_storeu_ps(enter, near);
    const __m256 in = _mm256_mul_ps(near, _mm256_set1_ps(bvh::kSlabNear)),
                 out = _mm256_mul_ps(far, _mm256_set1_ps(bvh::kSlabFar));
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(in, out, _CMP_LE_OQ)));
  }
};

bool has_avx2() {
#if defined(_MSC_VER)
  int leaf[4];
  __cpuid(leaf, 1);
  const bool saves_ymm = (leaf[2] >> 27 & 1) != 0 && (_xgetbv(0) & 6) == 6;
  __cpuidex(leaf, 7, 0);
  return saves_ymm && (leaf[1] >> 5 & 1) != 0;
#else
  return __builtin_cpu_supports("avx2") != 0;
#endif
}

}  // namespace

const BvhQueries* avx2_bvh_queries() {
  static constexpr BvhQueries kQueries = bvh::queries_of<Avx2Lanes>();
  static const bool supported = has_avx2();
  return supported ? &kQueries : nullptr;
}

}  // namespace pc

#else

namespace pc {
const BvhQueries* avx2_bvh_queries() { return nullptr; }
}  // namespace pc

#endif
