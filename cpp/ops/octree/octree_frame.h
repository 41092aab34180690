#pragma once
#include <cmath>
#include <cstdint>
#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#endif

#include "core/op_context.h"
#include "ops/octree/octree_build.h"

namespace pc::octree {

/// Deepest level: there a cube of 2^30 steps is resolved to single steps.
inline constexpr int kMaxLevel = 30;
/// Cells of side r_k along the edge of a node of level k (contract: spacing = cube side / 128).
inline constexpr int kSpacingsPerNode = 128;

/// Coordinates in steps from the cube's minimum, each below 2^30.
struct Steps {
  std::uint32_t x, y, z;
};

/// How coordinates become integers, and the cube that contains them.
struct Frame {
  std::uint64_t point_count = 0;  ///< rows not skipped
  Box3d tight;                    ///< their exact extent; empty if there are none
  double scale = 1, inverse_scale = 1;
  Vec3d offset{0, 0, 0};             ///< coordinate of stored integer 0
  std::int32_t base[3] = {0, 0, 0};  ///< stored integer = base + steps
  std::uint32_t side_steps = 1;      ///< cube side, 1 .. 2^30
  double cells_per_step = 1;         ///< 2^30 / side_steps >= 1: distinct steps are distinct finest cells

  Steps quantise(const Vec3d& p) const {
    return {step(p.x - offset.x, base[0]), step(p.y - offset.y, base[1]), step(p.z - offset.z, base[2])};
  }
  /// Finest cell of a step coordinate; its top k bits are the node coordinate at level k.
  std::uint32_t cell(std::uint32_t steps) const { return static_cast<std::uint32_t>(steps * cells_per_step); }
  struct Place {
    Steps at, cell;
  };
  /// The steps of a point and its finest cell, as quantise() and cell() give them.
  Place place(const Vec3d& p) const {
#if defined(__SSE2__) || defined(_M_X64)
    // Two coordinates at a time: both conversions round as llrint and the cast do, and every result is an int32.
    const __m128d inverse = _mm_set1_pd(inverse_scale), finer = _mm_set1_pd(cells_per_step);
    const auto steps_of = [&](__m128d coordinate, __m128d from, __m128i first) {
      return _mm_sub_epi32(_mm_cvtpd_epi32(_mm_mul_pd(_mm_sub_pd(coordinate, from), inverse)), first);
    };
    const auto cells_of = [&](__m128i steps) {
      return _mm_cvttpd_epi32(_mm_mul_pd(_mm_cvtepi32_pd(steps), finer));
    };
    const __m128i xy = steps_of(_mm_loadu_pd(&p.x), _mm_loadu_pd(&offset.x),
                                _mm_loadl_epi64(reinterpret_cast<const __m128i*>(base)));
    const __m128i z = steps_of(_mm_load_sd(&p.z), _mm_load_sd(&offset.z), _mm_cvtsi32_si128(base[2]));
    const __m128i cell_xy = cells_of(xy), cell_z = cells_of(z);
    const auto first = [](__m128i lanes) { return static_cast<std::uint32_t>(_mm_cvtsi128_si32(lanes)); };
    const auto second = [&](__m128i lanes) { return first(_mm_shuffle_epi32(lanes, 1)); };
    return {{first(xy), second(xy), first(z)}, {first(cell_xy), second(cell_xy), first(cell_z)}};
#else
    const Steps at = quantise(p);
    return {at, {cell(at.x), cell(at.y), cell(at.z)}};
#endif
  }
  Vec3d cube_min() const {
    return {offset.x + base[0] * scale, offset.y + base[1] * scale, offset.z + base[2] * scale};
  }
  double cube_side() const { return side_steps * scale; }

 private:
  std::uint32_t step(double distance, std::int32_t from) const {
    return static_cast<std::uint32_t>(std::llrint(distance * inverse_scale) - from);
  }
};

/// Measures the rows not skipped and chooses offset, scale and cube. Errors of octree_build.
Frame make_frame(const OctreeInput& input, double wanted_scale, OpContext& ctx);

}  // namespace pc::octree
