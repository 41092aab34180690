#include "spatial/bvh_queries.h"

#if defined(__x86_64__) || defined(_M_X64)
#include <cstddef>
#if defined(_MSC_VER)
#include <intrin.h>
#define PC_LANES_TARGET
#else
#define PC_LANES_TARGET __attribute__((target("avx2,fma,popcnt")))
#endif
#include "spatial/avx2_lanes.h"
#include "spatial/bvh_query_loops.h"
#include "spatial/x86_lanes.h"

namespace pc {

namespace {

struct Avx2Lanes : bvh::X86Lanes<Avx2Lanes, 16> {
  using Boxes = avx2::Floats;  ///< as many as a node has children
  using Floats = avx2::Floats;
  using Halves = avx2::Halves;
  using Doubles = avx2::Doubles;
};

bool has_avx2() {
#if defined(_MSC_VER)
  int leaf[4];
  __cpuid(leaf, 1);
  const bool saves_ymm = (leaf[2] >> 27 & 1) != 0 && (_xgetbv(0) & 6) == 6, fma = (leaf[2] >> 12 & 1) != 0;
  __cpuidex(leaf, 7, 0);
  return saves_ymm && fma && (leaf[1] >> 5 & 1) != 0;
#else
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
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
