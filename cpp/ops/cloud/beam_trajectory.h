#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Where the scanner was at a time.
struct BeamPose {
  double time_s;
  Vec3d position;
};

struct BeamTrajectory {
  std::vector<BeamPose> poses;       ///< strictly increasing in time
  std::uint64_t distinct_times = 0;  ///< before thinning
  std::uint64_t unusable = 0;        ///< rows whose time or origin is not finite
};

/// The scanner's path from per-pulse times and beam origins: one pose a distinct time (the first row of it), thinned
/// to at most `max_poses` by a stride that keeps the first and the last.
///
/// times    (n) seconds, any order; origins (n) metres, any one Cartesian frame; n == 0 gives no pose.
/// Order    The result does not depend on threads; rows of one time count in row order.
/// Cost     One radix sort of n 64-bit keys: 24 n bytes of scratch.
/// Cancel   Within 250 ms.
/// Errors   kInvalidArgument when the lengths differ or max_poses < 2; kUnsupported beyond 2^32 - 1 rows.
/// Source   Own, as the import contract states it (one pose per time, at most 3000, the last kept).
BeamTrajectory beam_trajectory(Span<const double> times, Span<const Vec3d> origins, std::uint64_t max_poses,
                               OpContext& ctx);

}  // namespace pc
