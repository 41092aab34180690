#include "ops/trees/segment_groups.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/radix_sort.h"
#include "ops/trees/cut_pursuit.h"
#include "ops/trees/cut_pursuit_graph.h"
#include "ops/trees/cut_pursuit_nodes.h"
#include "ops/trees/cut_pursuit_split.h"
#include "ops/trees/point_set_gap.h"
#include "ops/trees/work_poll.h"

namespace pc {

namespace {

struct ReducedNodes {
  BulkVector<Vec3d> position;
  BulkVector<std::uint32_t> segment;
};

/// One node per voxel and segment, in the order of the voxels.
ReducedNodes reduce(Span<const Vec3d> node, Span<const std::uint32_t> segment, double voxel_m,
                    OpContext& ctx) {
  const VoxelNodes voxels = voxel_nodes(node, voxel_m, ctx);
  BulkVector<std::uint64_t> keys(node.size);
  for (std::size_t i = 0; i < node.size; ++i) keys[i] = std::uint64_t{voxels.of_point[i]} << 32 | segment[i];
  ReducedNodes out;
  std::uint64_t last = ~std::uint64_t{0};
  for (const std::uint32_t i : radix_sort_order(keys.view(), 64, ctx)) {
    if (keys[i] == last) {
      const Vec3d center = voxel_center(node[i], voxel_m);
      if (represents_better(node[i], out.position.back(), center)) out.position.back() = node[i];
      continue;
    }
    last = keys[i];
    out.position.push_back(node[i]);
    out.segment.push_back(segment[i]);
  }
  return out;
}

/// Squared gaps between each segment and its neighbours by centroid.
class SegmentGaps {
 public:
  SegmentGaps(const ReducedNodes& nodes, Span<const Vec3d> centroid, const SegmentGroupParams& params,
              OpContext& ctx)
      : near_(neighbor_table(centroid, params.neighbors, ctx)),
        gap_(near_.row.size()),
        limit_(params.max_gap_m * params.max_gap_m) {
    const auto count = static_cast<std::uint32_t>(centroid.size);
    const PointSetGaps sets(nodes.position.view(), nodes.segment.view(), count, ctx);
    parallel_for(ctx, count, 1, [&](std::size_t s, std::size_t) {
      const Span<const std::uint32_t> rows = near_.of(s);
      for (std::size_t j = 0; j < rows.size; ++j) {
        ctx.checkpoint();
        gap_[s * near_.width + j] = sets.squared_gap(static_cast<std::uint32_t>(s), rows[j], limit_);
      }
    });
  }

  /// Metres; negative where the segments are not linked.
  double operator()(std::uint32_t a, std::uint32_t b) const {
    if (a == b) return 0;
    const Span<const std::uint32_t> rows = near_.of(a);
    const std::uint32_t* const at = std::lower_bound(rows.begin(), rows.end(), b);
    if (at == rows.end() || *at != b) return -1;
    const double squared = gap_[a * near_.width + static_cast<std::size_t>(at - rows.begin())];
    return squared < limit_ ? std::sqrt(squared) : -1;
  }

 private:
  NeighborTable near_;
  BulkVector<double> gap_;
  double limit_;
};

BulkVector<Vec3d> centroids(Span<const Vec3d> node, Span<const std::uint32_t> segment, std::uint32_t count) {
  std::vector<ValueSum> sums(count);
  for (std::size_t i = 0; i < node.size; ++i) sums[segment[i]].add(node[i]);
  BulkVector<Vec3d> out(count);
  for (std::uint32_t s = 0; s < count; ++s) out[s] = sums[s].mean();
  return out;
}

/// The graph of the nodes, drawn together to one node per segment.
CutGraph segment_graph(const ReducedNodes& nodes, const SegmentGaps& gap, std::uint32_t count,
                       const SegmentGroupParams& params, OpContext& ctx) {
  const NeighborTable table = neighbor_table(nodes.position.view(), params.neighbors, ctx);
  BulkVector<std::uint64_t> pairs;
  BulkVector<double> weights;
  WorkPoll poll(ctx);
  for (std::size_t i = 0; i < nodes.position.size(); ++i) {
    poll.add(table.count[i]);
    const std::uint32_t a = nodes.segment[i];
    for (const std::uint32_t row : table.of(i)) {
      const std::uint32_t b = nodes.segment[row];
      const double metres = a == b ? -1 : gap(a, b);
      if (metres < 0) continue;
      pairs.push_back(std::uint64_t{std::min(a, b)} << 32 | std::max(a, b));
      weights.push_back(params.reg_strength * 10 / ((metres + 0.01) / 0.01));
    }
  }
  BulkVector<CutEdge> edges;
  std::uint64_t last = ~std::uint64_t{0};
  for (const std::uint32_t i : radix_sort_order(pairs.view(), 64, ctx)) {
    if (!(weights[i] > 0)) continue;
    if (pairs[i] != last)
      edges.push_back({static_cast<std::uint32_t>(pairs[i] >> 32), static_cast<std::uint32_t>(pairs[i]), 0});
    last = pairs[i];
    edges.back().weight += weights[i];
  }
  return cut_graph(count, edges.view(), ctx);
}

}  // namespace

std::vector<std::uint32_t> group_segments(Span<const Vec3d> node, Span<const std::uint32_t> segment,
                                          std::uint32_t count, const SegmentGroupParams& params,
                                          OpContext& ctx) {
  ctx.begin_phase("Measuring gaps between segments", 0);
  const ReducedNodes nodes = reduce(node, segment, params.voxel_m, ctx);
  const BulkVector<Vec3d> centroid = centroids(node, segment, count);
  const SegmentGaps gap(nodes, centroid.view(), params, ctx);
  const CutGraph graph = segment_graph(nodes, gap, count, params, ctx);
  ctx.begin_phase("Grouping segments", 0);
  BulkVector<Vec3d> plan(count);
  BulkVector<double> weight(count);
  for (std::size_t i = 0; i < nodes.position.size(); ++i) {
    Vec3d& sum = plan[nodes.segment[i]];
    sum = sum + Vec3d{nodes.position[i].x, nodes.position[i].y, 0};
    weight[nodes.segment[i]] += 1;
  }
  for (std::uint32_t s = 0; s < count; ++s) plan[s] = plan[s] * (1 / weight[s]);
  const CutPursuitSegments cut = cut_pursuit(graph, plan.view(), weight.view(), ctx);
  return {cut.segment.begin(), cut.segment.end()};
}

}  // namespace pc
