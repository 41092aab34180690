#include "spatial/bvh_queries.h"

#include "spatial/bvh_query_loops.h"

namespace pc {

const BvhQueries& portable_bvh_queries() {
  static constexpr BvhQueries kQueries = bvh::queries_of<bvh::PlainLanes>();
  return kQueries;
}

const BvhQueries& fastest_bvh_queries() {
  static const BvhQueries& fastest =
      avx2_bvh_queries() != nullptr ? *avx2_bvh_queries() : portable_bvh_queries();
  return fastest;
}

}  // namespace pc
