#include "ops/ray/trajectory_join.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 14, kFields = 8;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void refuse(std::size_t pose, const char* rule) {
  throw Error(ErrorCode::kInvalidArgument, "trajectory.poses[" + std::to_string(pose) + "]: " + rule);
}

std::vector<Pose> poses_of(Span<const double> flat) {
  require(!flat.empty() && flat.size % kFields == 0, "a trajectory needs poses of 8 numbers each");
  std::vector<Pose> poses;
  for (std::size_t i = 0; i < flat.size / kFields; ++i) {
    const Span<const double> p = flat.subspan(kFields * i, kFields);
    if (!std::all_of(p.begin(), p.end(), [](double v) { return std::isfinite(v); }))
      refuse(i, "a value is not finite");
    if (i > 0 && !(p[0] > poses.back().t)) refuse(i, "times must increase from pose to pose");
    const double size = std::sqrt(p[4] * p[4] + p[5] * p[5] + p[6] * p[6] + p[7] * p[7]);
    if (!(size > 0)) refuse(i, "the quaternion has no length");
    poses.push_back({p[0], {p[1], p[2], p[3]}, {p[4] / size, p[5] / size, p[6] / size, p[7] / size}});
  }
  return poses;
}

/// Of a part of the rows.
struct Times {
  double first = HUGE_VAL, last = -HUGE_VAL;
  std::uint64_t untimed = 0, outside = 0;
};

}  // namespace

TrajectoryJoin trajectory_join(Span<const double> times, Span<const double> poses, const Vec3d& lever_arm,
                               const Vec3d& shift, OpContext& ctx) {
  require(is_finite(lever_arm) && is_finite(shift), "lever_arm and shift must be finite");
  const std::vector<Pose> stream = poses_of(poses);
  const PoseStreamView view{{stream.data(), stream.size()}, lever_arm, roll_pitch_yaw(0, 0, 0)};
  TrajectoryJoin out{Column<Vec3d>(times.size), 0, 0, kNaN, kNaN};
  std::vector<Times> parts((times.size + kGrain - 1) / kGrain);
  ctx.begin_phase("Joining trajectory", times.size);
  parallel_for(ctx, times.size, kGrain, [&](std::size_t begin, std::size_t end) {
    Times& part = parts[begin / kGrain];
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
