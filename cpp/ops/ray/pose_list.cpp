#include "ops/ray/pose_list.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"

namespace pc {

namespace {

constexpr std::size_t kFields = 8;

[[noreturn]] void refuse(std::size_t pose, const char* rule) {
  throw Error(ErrorCode::kInvalidArgument, "trajectory.poses[" + std::to_string(pose) + "]: " + rule);
}

}  // namespace

std::vector<Pose> read_poses(Span<const double> flat) {
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

}  // namespace pc
