#include "ops/trees/gap_components.h"

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

struct Pair {
  std::uint32_t a, b;
};

}  // namespace

BulkVector<std::uint32_t> gap_components(Span<const Vec3d> points, double gap_m, OpContext& ctx) {
  const double cell = gap_m / kCellsPerGap;
  const VoxelNodes voxels = voxel_nodes(points, cell, ctx);
  const auto count = static_cast<std::uint32_t>(voxels.position.size());
  const PointSetGaps sets(points, voxels.of_point.view(), count, ctx);
  const KdTree tree(voxels.position.view(), ctx);
  const double reach =
      gap_m + 2 * kCellsPerGap * cell;  // representatives of voxels with points closer than the gap
  UnionFind joined(count);
  std::vector<Pair> near;
  for (std::uint32_t at = 0; at < count; ++at) {
    ctx.checkpoint();
    near.clear();
    tree.view().for_each_within(voxels.position[at], reach * reach,
                                [&](std::uint64_t row, std::uint64_t, double) {
                                  if (row < at) near.push_back({at, static_cast<std::uint32_t>(row)});
                                });
    for (const Pair& pair : near) {
      if (joined.root_of(pair.a) == joined.root_of(pair.b)) continue;
      if (sets.squared_gap(pair.a, pair.b, gap_m * gap_m) < gap_m * gap_m) joined.join(pair.a, pair.b);
    }
  }
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
