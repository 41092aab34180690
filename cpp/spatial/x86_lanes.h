#pragma once
#include <immintrin.h>

#include <cstddef>

#include "spatial/ray_packet.h"

namespace pc::bvh {

/// What the searches of a Bvh need on x86, in registers of AVX2: the same operations in the same order as PlainLanes, eight
/// boxes at once. `Target` is one type per set of instructions, so that source files share no function.
template <class Target, std::size_t kRaysOfPacket>
struct X86Lanes {
  static constexpr std::size_t kRays = kRaysOfPacket;

  PC_LANES_TARGET static unsigned distances(const Node& node, const PointInterval& p, float& limit,
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
    reach = _mm256_add_ps(_mm256_mul_ps(reach, _mm256_set1_ps(kReachSlack)), _mm256_set1_ps(kLeastNormal));
    __m128 least = _mm_min_ps(_mm256_castps256_ps128(reach), _mm256_extractf128_ps(reach, 1));
    least = _mm_min_ps(least, _mm_movehl_ps(least, least));
    least = _mm_min_ss(least, _mm_shuffle_ps(least, least, 1));
    limit = _mm_cvtss_f32(_mm_min_ss(least, _mm_set_ss(limit)));
    _mm256_storeu_ps(squared, sum);
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(sum, _mm256_set1_ps(limit), _CMP_LE_OQ)));
  }

  PC_LANES_TARGET static unsigned slabs(const Node& node, const BoxRay& ray, float limit, float* enter) {
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
    const __m256 in = _mm256_mul_ps(near, _mm256_set1_ps(kSlabNear)),
                 out = _mm256_mul_ps(far, _mm256_set1_ps(kSlabFar));
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(in, out, _CMP_LE_OQ)));
  }

  /// The least and the largest of the packet's numbers.
  PC_LANES_TARGET static float least(const float* values) {
    __m256 all = _mm256_load_ps(values);
    for (std::size_t i = 8; i < kRays; i += 8) all = _mm256_min_ps(all, _mm256_load_ps(values + i));
    __m128 few = _mm_min_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1));
    few = _mm_min_ps(few, _mm_movehl_ps(few, few));
    return _mm_cvtss_f32(_mm_min_ss(few, _mm_shuffle_ps(few, few, 1)));
  }

  PC_LANES_TARGET static float most(const float* values) {
    __m256 all = _mm256_load_ps(values);
    for (std::size_t i = 8; i < kRays; i += 8) all = _mm256_max_ps(all, _mm256_load_ps(values + i));
    __m128 few = _mm_max_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1));
    few = _mm_max_ps(few, _mm_movehl_ps(few, few));
    return _mm_cvtss_f32(_mm_max_ss(few, _mm_shuffle_ps(few, few, 1)));
  }

  /// Four numbers of each of four rays, from the same place in each, to columns.
  PC_LANES_TARGET static void transpose(const double* const* rays, std::size_t from, double* const* columns,
                                        std::size_t at) {
    const __m256d a = _mm256_loadu_pd(rays[0] + from), b = _mm256_loadu_pd(rays[1] + from),
                  c = _mm256_loadu_pd(rays[2] + from), d = _mm256_loadu_pd(rays[3] + from);
    const __m256d ab = _mm256_unpacklo_pd(a, b), AB = _mm256_unpackhi_pd(a, b), cd = _mm256_unpacklo_pd(c, d),
                  CD = _mm256_unpackhi_pd(c, d);
    _mm256_store_pd(columns[0] + at, _mm256_permute2f128_pd(ab, cd, 0x20));
    _mm256_store_pd(columns[1] + at, _mm256_permute2f128_pd(AB, CD, 0x20));
    _mm256_store_pd(columns[2] + at, _mm256_permute2f128_pd(ab, cd, 0x31));
    _mm256_store_pd(columns[3] + at, _mm256_permute2f128_pd(AB, CD, 0x31));
  }

  /// The first `size` rays as columns, origins relative to `origin`; the first one fills the other lanes.
  PC_LANES_TARGET static void read(const Ray* rays, std::size_t size, const Vec3d& origin,
                                   RayColumns<kRays>& columns) {
    static_assert(sizeof(Ray) == 8 * sizeof(double) && offsetof(Ray, direction) == 24 &&
                  offsetof(Ray, t_min) == 48);
    double* const first[4] = {columns.origin[0], columns.origin[1], columns.origin[2], columns.direction[0]};
    double* const last[4] = {columns.direction[1], columns.direction[2], columns.t_min, columns.t_max};
    for (std::size_t i = 0; i < kRays; i += 4) {
      const double* four[4];
      for (std::size_t k = 0; k < 4; ++k)
        four[k] = reinterpret_cast<const double*>(rays + (i + k < size ? i + k : 0));
      transpose(four, 0, first, i);
      transpose(four, 4, last, i);
    }
    for (std::size_t i = 0; i < kRays; ++i) {
      columns.origin[0][i] -= origin.x;
      columns.origin[1][i] -= origin.y;
      columns.origin[2][i] -= origin.z;
    }
  }
};

}  // namespace pc::bvh
