#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Position of the scanner at a time.
struct BeamPose {
  double time_s;
  Vec3d position;
};

struct BeamTrajectory {
  std::vector<BeamPose> poses;       ///< strictly increasing in time
  std::uint64_t distinct_times = 0;  ///< before thinning
  std::uint64_t unusable = 0;        ///< rows whose time or origin is not finite
};

/// The scanner's path from per-pulse times and beam origins: one pose per distinct time (from the first row with that
/// time), thinned to at most `max_poses` by a stride that keeps the first and the last pose.
///
/// times    (n) seconds, any order; origins (n) metres, any one Cartesian frame; n == 0 gives no pose.
/// Order    The result does not depend on threads; rows with equal times count in row order.
/// Cost     One radix sort of n 64-bit keys; 24 n bytes of scratch.
/// Cancel   Within 250 ms.
/// Errors   kInvalidArgument: lengths that differ, max_poses < 2. kUnsupported: more than 2^32 - 1 rows.
/// Source   Own, as specified by the import contract (one pose per time, at most 3000, the last one kept).
BeamTrajectory beam_trajectory(Span<const double> times, Span<const Vec3d> origins, std::uint64_t max_poses,
                               OpContext& ctx);

}  // namespace pc
