#include <algorithm>
#include <cmath>
#include <utility>

#include "ops/registration/icp.h"

namespace pc {

namespace {

constexpr std::uint32_t kStepsPerLevel = 20;
constexpr double kSame = 0.5;    // voxels of the last level that was refined
constexpr double kBetter = 0.9;  // of the squared distances
constexpr double kAlike = 0.05;  // spacings: distances below are the same
constexpr double kClear = 1.5;   // as of the outcome "found"
constexpr double kClearAsPlaced = 1.3;
constexpr double kNear = 5;        // voxels of the search: its poses that are the same
constexpr double kLeastReach = 3;  // spacings

}  // namespace

IcpCheck IcpRegistration::check(OpContext& ctx) {
  ctx.begin_phase("Searching for other poses", 0);
  const GlobalAlignment found = global_ ? *global_ : searched(ctx);
  IcpCheck out{IcpVerdict::kUndecided, found, 0, 0, false};
  if (found.outcome == GlobalOutcome::kNone) return out;

  const RigidTransform reached = pose_, start = start_;
  const double limit_m = limit_;
  const std::size_t level = level_, done = history_.size();
  begin_at(found);
  const std::size_t last = std::max(level_ + 1, levels_.size() - 1);
  for (; level_ < last; ++level_) {
    begin_level(ctx);
    bool settled = false;
    for (std::uint32_t i = 0; i < kStepsPerLevel && !settled; ++i) settled = step(ctx, nullptr);
  }
  const RigidTransform other = std::exchange(pose_, reached);
  const IcpScale& finest = levels_.back();
  const double voxel_m = std::max(levels_[last - 1].voxel_m, kLeastReach * finest.spacing_m());
  history_.resize(done);
  start_ = start;
  limit_ = limit_m;
  level_ = level;
  frame_ = icp_frame(levels_[level_].moving, ctx);
  pairs_ = {};  // of another level
  other_ = found;

  const IcpFrame frame = icp_frame(levels_.front().moving, ctx);
  if (rms_apart(reached, other, frame) < kSame * voxel_m) {
    if (found.outcome == GlobalOutcome::kFound) out.verdict = IcpVerdict::kConfirmed;
    return out;
  }
  out.turn_rad = turn_between(reached, other);
  out.shift_m = std::sqrt(squared_distance(reached(frame.center), other(frame.center)));
  const double alike_m = kAlike * finest.spacing_m();
  const bool is_nearer = misfit(finest, other, voxel_m, ctx) + alike_m * alike_m <
                         kBetter * misfit(finest, reached, voxel_m, ctx);
  // Where the sides overlap in part only, a pose that puts more on each other has less misfit, right or not.
  out.is_as_placed =
      start_kind_ == IcpStart::kCentroid && rms_apart(found.pose, local({}), frame) <= kNear * found.voxel_m;
  const auto stands_out = [&] {
    if (found.outcome != GlobalOutcome::kFound && !out.is_as_placed) return false;
    const double here =
        agreement_near(finest.fixed.points.view(), finest.moving.points.view(), reached, found.voxel_m, ctx);
    return found.agreement >= (out.is_as_placed ? kClearAsPlaced : kClear) * here;
  };
  if (is_nearer || stands_out()) out.verdict = IcpVerdict::kContradicted;
  return out;
}

void IcpRegistration::take_found(OpContext& ctx) {
  require(other_.has_value(), "no other pose was searched for");
  start_kind_ = IcpStart::kGlobal;
  global_ = other_;
  begin_at(*other_);
  iterations_ = 0;
  converged_ = finished_ = false;
  begin_level(ctx);
}

}  // namespace pc
