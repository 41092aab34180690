#include "ops/registration/icp_pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/parallel.h"
#include "core/parallel_select.h"
#include "core/prefetch.h"

namespace pc {

namespace {

using icp_pairs_kernel::Known;
using icp_pairs_kernel::Motion;
using icp_pairs_kernel::Nearest;
using icp_pairs_kernel::Queries;

constexpr std::size_t kBlock = 2048;
constexpr std::size_t kAhead = 16;  // queries whose known points are loaded while others are searched
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Without a tree where none looks for points of that side.
icp_pairs_kernel::Side side_of(const IcpLevel& level) {
  return {level.tree ? level.tree->view() : KdTreeView{}, level.points.data()};
}
icp_pairs_kernel::HostSide host_of(const IcpLevel& level) {
  return {level.tree ? level.tree->host() : HostKdTree{}, level.points.data(), level.points.size()};
}

Motion motion_of(const RigidTransform& pose) {
  return {pose.rows[0], pose.rows[1], pose.rows[2], pose.translation};
}

}  // namespace

bool IcpDevice::open(const IcpScale& scale, GpuRun& gpu) {
  if (scale_ == &scale) return true;
  close();
  const icp_pairs_kernel::HostSides host{host_of(scale.fixed), host_of(scale.moving)};
  return gpu.run([&](const auto& table, const auto& control, auto& error) {
    void* opened = nullptr;
    const GpuStatus status = table.open_sides(&host, &control, &opened, &error);
    if (status == GpuStatus::kOk) {
      sides_ = {opened, table.close_sides};
      scale_ = &scale;
    }
    return status;
  });
}

bool IcpDevice::find(const IcpScale& scale, const Queries& queries, IcpPairs& pairs, OpContext& ctx,
                     GpuRun& gpu) {
  if (!gpu.usable()) return false;
  const std::size_t count = pairs.slot.size();
  const icp_pairs_kernel::HostPass pass{queries, count, pairs.slot.data(), pairs.squared.data()};
  const auto same = [&](std::size_t i) {
    Known nothing;
    const Nearest wanted = icp_pairs_kernel::find_pair(queries, i, queries.motions, nothing, IcpPairs::kNone);
    return pairs.slot[i] == wanted.slot && pairs.squared[i] == icp_pairs_kernel::squared_of(wanted);
  };
  const auto search = [&](const auto& table, const auto& control, auto& error) {
    return table.icp_pairs(sides_.get(), &pass, &control, &error);
  };
  const bool done = open(scale, gpu) && gpu.run(search, [&] { return sample_agrees(count, same); });
  if (done) {
    ctx.advance(count);
  } else {
    close();
  }
  return done;
}

void find_pairs(const IcpScale& scale, const RigidTransform& pose, double limit_m, IcpQueries wanted,
                IcpPairs& pairs, OpContext& ctx, const IcpGpu* gpu) {
  const std::size_t moving_count = scale.moving.points.size();
  const std::size_t count = wanted == IcpQueries::kBoth ? scale.pair_count() : moving_count;
  if (pairs.slot.size() != count) {
    pairs.slot.resize(count);
    pairs.squared.resize(count);
    pairs.known = {};
  }
  const Queries queries{side_of(scale.fixed),
                        side_of(scale.moving),
                        moving_count,
                        {motion_of(pose), motion_of(inverse(pose))},
                        limit_m * limit_m};
  if (gpu != nullptr && gpu->device.find(scale, queries, pairs, ctx, gpu->run)) return;
  BulkVector<Known> known =
      std::move(pairs.known);  // lost in a canceled pass, which leaves some at another pose
  if (known.size() != count) {
    known = BulkVector<Known>(count);
    std::fill(known.begin(), known.end(), Known{});
  }
  parallel_for(ctx, count, kBlock, [&](std::size_t begin, std::size_t end) {
    std::uint32_t last = IcpPairs::kNone;
    for (std::size_t i = begin; i < end; ++i) {
      if (i == moving_count) last = IcpPairs::kNone;
      if (const std::size_t soon = i + kAhead; soon < end && known[soon].slot != IcpPairs::kNone)
        prefetch(&queries.other_side(soon).points[known[soon].slot]);
      const Nearest nearest = icp_pairs_kernel::find_pair(queries, i, pairs.known_at, known[i], last);
      last = known[i].slot;
      pairs.slot[i] = nearest.slot;
      pairs.squared[i] = icp_pairs_kernel::squared_of(nearest);
    }
  });
  pairs.known = std::move(known);
  pairs.known_at = queries.motions;
}

void narrow_pairs(const IcpScale& scale, double limit_m, IcpPairs& pairs, OpContext& ctx) {
  const std::size_t moving_count = scale.moving.points.size();
  parallel_for(ctx, pairs.slot.size(), kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t slot = pairs.slot[i];
      if (slot == IcpPairs::kNone) continue;
      const bool rim = (i < moving_count ? scale.fixed : scale.moving).is_rim[slot] != 0;
      if (!rim && pairs.squared[i] <= limit_m * limit_m) continue;
      pairs.slot[i] = IcpPairs::kNone;
      pairs.squared[i] = kInfinity;
    }
  });
}

double pair_distance(const IcpScale& scale, const IcpPairs& pairs, double share, OpContext& ctx) {
  const Span<const double> squared{pairs.squared.data(), scale.moving.points.size()};
  return std::sqrt(select_non_negative(squared, ctx, [&](std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(share * static_cast<double>(count)));
  }));
}

}  // namespace pc
