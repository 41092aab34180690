#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

struct FusionFound {
  std::uint64_t fused_count;    ///< trees with more than one stem
  std::uint64_t implied_count;  ///< trees if every stem were one
};

/// Looks for trees that hold several stems.
///
/// The lowest 0.8 m above the ground of each tree of at least 200 points are taken, if these are 50 points or more. A sample of at most
/// 4000 of them is clustered in x and y by single linkage at 1 m; every cluster of at least max(2 % of the sample, 20)
/// points is a stem.
///
/// points   (n) metres, z up; rows that are not finite do not count
/// labels   (n) 0 = no tree, else 1 .. tree_count
/// heights  (n) above the ground, metres; rows that are not finite do not count. Empty: the ground is level, so that on a slope
///          stems uphill of the lowest one are not seen
/// Order    Does not depend on threads or the order of the points: the sample is chosen by a hash of the position within
///          the tree.
/// Cost     O(n log n) time, 12 bytes per point. Cancel within 250 ms.
/// Errors   kInvalidArgument: lengths that differ, a label above tree_count, 2^32 points or more.
/// Source   Contract classification section 4, fusion_warning, which has no heights.
FusionFound fusion_warning(HitPoints points, Span<const std::uint32_t> labels, std::uint64_t tree_count,
                           Span<const float> heights, OpContext& ctx);

}  // namespace pc
