#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/op_context.h"

namespace pc {

/// Voxels of the stages of cut_pursuit_trees and the nodes that they give.
struct TreeVoxels {
  double decimate_res1, decimate_res2;  ///< metres
  std::uint64_t node_count;             ///< exact, of stage 1
};

struct TreeDecimation {
  double spacing_m;  ///< median distance to the nearest point at another place; NaN = not measured
  TreeVoxels tile;   ///< as the spacing demands: for tiles
  TreeVoxels whole;  ///< for the whole cloud at once: raised until kMostWholeNodes are left
};

/// Clouds with fewer points keep their voxels.
constexpr std::uint64_t kFewestDecimated = 50'000;
/// Voxels are raised until this many nodes are left.
constexpr std::uint64_t kMostWholeNodes = 1'000'000;

/// Voxels for a cloud of vegetation. Those asked for are only ever raised, and only if they are at most 0.051 m and
/// 0.101 m (the published defaults) and there are kFewestDecimated points or more.
///
///     target    max(3 s, s (n / 1e6)^(1/3)), s = spacing
///     whole     1.26 times that, at most 12 times, until kMostWholeNodes nodes are left
///     stage 2   twice stage 1
///
/// Raised voxels are rounded up to a millimetre, so that the rounding of coordinates does not change them.
///
/// points   (n) metres; rows that are not finite do not count
/// Order    Does not depend on threads, the order of the points or an offset: the spacing is measured at no more than
///          about 200 000 points, chosen by a hash of their positions.
/// Cost     O(n log n) time, 64 bytes per point. Cancel within 250 ms.
/// Errors   kInvalidArgument: voxels that are not finite and positive, or too small for the cloud.
/// Source   Contract classification section 4, auto decimation.
TreeDecimation tree_decimation(HitPoints points, double decimate_res1, double decimate_res2, OpContext& ctx);

}  // namespace pc
