#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "ops/ray/pose_stream.h"

namespace pc {

/// Beam origins of pulses, and how well their times fit those of the poses.
struct TrajectoryJoin {
  Column<Vec3d> origins;            ///< (n) metres; NaN where the time is not finite
  std::uint64_t untimed_count = 0;  ///< rows whose time is not finite
  std::uint64_t outside_count =
      0;  ///< rows before the first or after the last pose, which keep that one's place
  double first_time_s, last_time_s;  ///< of the rows with a time; NaN without
};

/// The optical centre of a moving scanner at the time of every pulse: position + attitude (lever arm), linear and SLERP
/// between poses.
///
/// times    (n) seconds, the clock of the poses; any order; n == 0 gives no origin
/// poses    (8 m) t, x, y, z, qx, qy, qz, qw of each pose: seconds, metres, body to world
/// shift    subtracted from every origin, metres
/// Order    Row order, for any number of threads.
/// Cost     O(n log m), 24 bytes per row. Cancel within 50 ms.
/// Errors   kInvalidArgument: no pose, a length that is no multiple of 8, values that are not finite, times that do not
///          increase, a quaternion of length 0.
/// Source   Contract wire 11.3.
TrajectoryJoin trajectory_join(Span<const double> times, Span<const double> poses, const Vec3d& lever_arm,
                               const Vec3d& shift, OpContext& ctx);

}  // namespace pc
