#include "spatial/bvh_queries.h"

#include "spatial/bvh_query_loops.h"

namespace pc {

const BvhQueries& portable_bvh_queries() {
  static constexpr BvhQueries kQueries = bvh::queries_of<bvh::PlainLanes>();
  return kQueries;
}

const BvhQueries& fastest_bvh_queries() {
  static const BvhQueries* const fastest = [] {
    for (const BvhQueries* wide : {avx512_bvh_queries(), avx2_bvh_queries()})
      if (wide != nullptr) return wide;
    return &portable_bvh_queries();
  }();
  return *fastest;
}

}  // namespace pc
