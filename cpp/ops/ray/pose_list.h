#pragma once
#include <vector>

#include "core/span.h"
#include "ops/ray/pose_stream.h"

namespace pc {

/// The poses in a flat list.
///
/// flat    (8 m) t, x, y, z, qx, qy, qz, qw of each pose: seconds, metres, body to world
/// Errors  kInvalidArgument: no pose, a length that is no multiple of 8, values that are not finite, times that do not
///         increase, a quaternion of length 0.
std::vector<Pose> read_poses(Span<const double> flat);

}  // namespace pc
