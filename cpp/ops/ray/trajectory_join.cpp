#include "ops/ray/trajectory_join.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/ray/pose_list.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 14;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Of a part of the rows.
struct Times {
  double first = HUGE_VAL, last = -HUGE_VAL;
  std::uint64_t untimed = 0, outside = 0;
};

}  // namespace

TrajectoryJoin trajectory_join(Span<const double> times, Span<const double> poses, const Vec3d& lever_arm,
                               const Vec3d& shift, OpContext& ctx) {
  require(is_finite(lever_arm) && is_finite(shift), "lever_arm and shift must be finite");
  const std::vector<Pose> stream = read_poses(poses);
  const PoseStreamView view{{stream.data(), stream.size()}, lever_arm, roll_pitch_yaw(0, 0, 0)};
  TrajectoryJoin out{Column<Vec3d>(times.size), 0, 0, kNaN, kNaN};
  std::vector<Times> parts((times.size + kGrain - 1) / kGrain);
  ctx.begin_phase("Joining trajectory", times.size);
  parallel_for(ctx, times.size, kGrain, [&](std::size_t begin, std::size_t end) {
    Times part;
    for (std::size_t i = begin; i < end; ++i) {
      if (!std::isfinite(times[i])) {
        out.origins[i] = {kNaN, kNaN, kNaN};
        ++part.untimed;
        continue;
      }
      part.first = std::min(part.first, times[i]);
      part.last = std::max(part.last, times[i]);
      if (times[i] < stream.front().t || times[i] > stream.back().t) ++part.outside;
      out.origins[i] = view.origin(view.at(times[i])) - shift;
    }
    parts[begin / kGrain] = part;
  });
  Times all;
  for (const Times& part : parts) {
    all.first = std::min(all.first, part.first);
    all.last = std::max(all.last, part.last);
    out.untimed_count += part.untimed;
    out.outside_count += part.outside;
  }
  if (all.first <= all.last) out.first_time_s = all.first, out.last_time_s = all.last;
  return out;
}

}  // namespace pc
