#include "spatial/bvh_queries.h"

#if defined(__x86_64__) || defined(_M_X64)
#include <cstddef>
#if defined(_MSC_VER)
#include <intrin.h>
#define PC_LANES_TARGET
#else
#define PC_LANES_TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma,popcnt")))
#endif
#include "spatial/avx512_lanes.h"
#include "spatial/bvh_query_loops.h"
#include "spatial/x86_lanes.h"

namespace pc {

namespace {

struct Avx512Lanes : bvh::X86Lanes<Avx512Lanes, 32> {
  using Boxes = avx512::Halves;  ///< as many as a node has children
  using Floats = avx512::Floats;
  using Halves = avx512::Halves;
  using Doubles = avx512::Doubles;
};

bool has_avx512() {
#if defined(_MSC_VER)
  int leaf[4];
  __cpuid(leaf, 1);
  const bool saves_zmm = (leaf[2] >> 27 & 1) != 0 && (_xgetbv(0) & 0xE6) == 0xE6;
  __cpuidex(leaf, 7, 0);
  constexpr int kWanted = 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31;  // F, DQ, BW, VL
  return saves_zmm && (leaf[1] & kWanted) == kWanted;
#else
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0;
#endif
}

}  // namespace

const BvhQueries* avx512_bvh_queries() {
  static constexpr BvhQueries kQueries = bvh::queries_of<Avx512Lanes>();
  static const bool supported = has_avx512();
  return supported ? &kQueries : nullptr;
}

}  // namespace pc

#else

namespace pc {
const BvhQueries* avx512_bvh_queries() { return nullptr; }
}  // namespace pc

#endif
