#include "ops/cloud/beam_trajectory.h"

#include <cmath>
#include <limits>

#include "core/float_bits.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/radix_sort.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 65536;
constexpr std::uint64_t kUnusable = std::numeric_limits<std::uint64_t>::max();

/// Sort key of a time; -0 and +0 get the same key.
std::uint64_t time_key(double time) { return ordered_bits(time == 0.0 ? 0.0 : time); }

}  // namespace

BeamTrajectory beam_trajectory(Span<const double> times, Span<const Vec3d> origins, std::uint64_t max_poses,
                               OpContext& ctx) {
  require(times.size == origins.size, "times and beam origins must have one length");
  require(max_poses >= 2, "max_poses must be at least 2");
  if (times.size > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorCode::kUnsupported, "a trajectory of more than 4,294,967,295 pulses");
  }
  ctx.begin_phase("Ordering pulses", times.size);
  BulkVector<std::uint64_t> keys(times.size);
  parallel_for(ctx, times.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      keys[i] = std::isfinite(times[i]) && is_finite(origins[i]) ? time_key(times[i]) : kUnusable;
    }
  });
  const auto order = radix_sort_order(keys.view(), 64, ctx);
  BeamTrajectory result;
  BulkVector<std::uint32_t> firsts;  // first row of each distinct time
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    const auto key = keys[order[i]];
    if (key == kUnusable) {
      ++result.unusable;
    } else if (i == 0 || keys[order[i - 1]] != key) {
      firsts.push_back(order[i]);
    }
  }
  result.distinct_times = firsts.size();
  if (firsts.empty()) return result;
  const std::size_t last = firsts.size() - 1;
  // ceil((count - 1) / (max_poses - 1)) steps leave room for the last pose.
  const std::size_t stride = last == 0 ? 1 : (last + max_poses - 2) / (max_poses - 1);
  for (std::size_t i = 0; i < last; i += stride)
    result.poses.push_back({times[firsts[i]], origins[firsts[i]]});
  result.poses.push_back({times[firsts[last]], origins[firsts[last]]});
  return result;
}

}  // namespace pc
