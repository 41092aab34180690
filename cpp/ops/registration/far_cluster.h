#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

struct FarCluster {
  Column<std::uint8_t> skip;  ///< (n) 1 = the point lies in the far cluster; empty if there is none
  std::uint64_t count;        ///< points in it
};

/// Finds points that lie far from all others: sky points of a cloud whose misses are not marked. They begin where the
/// distance from the median place first reaches 800 m and three times that of the next nearer point.
///
/// points   (n) metres; points that are not finite are left alone
/// Order    Does not depend on threads or the order of the points.
/// Cost     O(n) time without points at 800 m, else O(n log n); 24 bytes per point of scratch. Cancel within 250 ms.
/// Source   contract terrain section 3, misses of inline clouds.
FarCluster far_cluster(Span<const Vec3d> points, OpContext& ctx);

}  // namespace pc
