#include "ops/trees/gap_components.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "ops/trees/cut_pursuit_nodes.h"
#include "ops/trees/point_set_gap.h"
#include "spatial/kd_tree.h"
#include "spatial/union_find.h"

namespace pc {

namespace {

constexpr double kCellsPerGap =
    1.7321;  ///< a little more than sqrt(3): a voxel's diagonal is shorter than the gap

constexpr std::size_t kGrain = 256;  // voxels
constexpr double kRounding = 1 + 1e-9;
constexpr std::size_t kPoll = std::size_t{1} << 16;  // points

/// How far the points of each voxel are from its position at most.
std::vector<double> radii_of(const VoxelNodes& voxels, Span<const Vec3d> points, OpContext& ctx) {
  std::vector<double> squared(voxels.position.size(), 0);
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    double& most = squared[voxels.of_point[i]];
    most = std::max(most, squared_distance(points[i], voxels.position[voxels.of_point[i]]));
  }
  for (double& value : squared) value = std::sqrt(value);
  return squared;
}

}  // namespace

BulkVector<std::uint32_t> gap_components(Span<const Vec3d> points, double gap_m, OpContext& ctx) {
  const double cell = gap_m / kCellsPerGap;
  const VoxelNodes voxels = voxel_nodes(points, cell, ctx);
  const auto count = static_cast<std::uint32_t>(voxels.position.size());
  const PointSetGaps sets(points, voxels.of_point.view(), count, ctx);
  const KdTree tree(voxels.position.view(), ctx);
  const std::vector<double> radius = radii_of(voxels, points, ctx);
  const double widest = radius.empty() ? 0 : *std::max_element(radius.begin(), radius.end());
  SharedUnionFind joined(count);
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> near;
    for (std::size_t at = begin; at < end; ++at) {
      ctx.checkpoint();
      near.clear();
      // Farther apart, no two points of two voxels are closer than the gap.
      const double own_reach = (gap_m + radius[at]) * kRounding, reach = own_reach + widest;
      tree.view().for_each_within(voxels.position[at], reach * reach,
                                  [&](std::uint64_t row, std::uint64_t, double squared) {
                                    const double apart = own_reach + radius[row];
                                    if (row < at && squared <= apart * apart)
                                      near.push_back(static_cast<std::uint32_t>(row));
                                  });
      const auto own = static_cast<std::uint32_t>(at);
      for (const std::uint32_t other : near) {
        if (joined.root_of(own) == joined.root_of(other)) continue;
        if (sets.squared_gap(own, other, gap_m * gap_m) < gap_m * gap_m) joined.join(own, other);
      }
    }
  });
  BulkVector<std::uint32_t> out(points.size);
  std::vector<std::uint32_t> number(count, kNoNode);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < points.size; ++i) {
    std::uint32_t& n = number[joined.root_of(voxels.of_point[i])];
    if (n == kNoNode) n = next++;
    out[i] = n;
  }
  return out;
}

}  // namespace pc
