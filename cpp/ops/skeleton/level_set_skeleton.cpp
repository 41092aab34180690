#include "ops/skeleton/level_set_skeleton.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/hit_points.h"
#include "ops/denoise/noise_class.h"
#include "ops/denoise/statistical_outlier.h"
#include "ops/skeleton/hop_graph.h"
#include "ops/skeleton/level_blocks.h"
#include "ops/skeleton/medial_axis.h"

namespace pc {

namespace {

constexpr double kLeastAutomaticRadius = 0.001;  ///< smaller radii mean an automatic one
constexpr double kFallbackRadius = 0.05;         ///< without a measurable spacing
constexpr double kShortestEdge = 0.001;
constexpr std::size_t kPerPoll = 4096;  ///< blocks or nodes between two looks at a cancel

void check(const SkeletonParams& p) {
  require(p.max_neighbors >= 1 && p.max_neighbors <= kMaxSkeletonNeighbors,
          "max_neighbors must be 1 to 1000");
  require(p.quantization_levels >= 2, "quantization_levels must be at least 2");
  require(std::isfinite(p.root_threshold_m), "root_threshold must be finite");
  require(p.proportion_threshold >= 0 && p.proportion_threshold <= 1, "proportion_threshold must be 0 to 1");
  require(!p.search_radius_m || std::isfinite(*p.search_radius_m), "search_radius must be finite");
}

void remove_outliers(BulkVector<Vec3d>& points, const SkeletonParams& params, OpContext& ctx) {
  const StatisticalOutlierParams wanted{params.outlier_nb_neighbors, params.outlier_std_ratio};
  const NoiseResult noise = statistical_outlier(HitPoints::assume_hits(points.view()), wanted, ctx);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (noise.noise_class[i] == kClean) points[kept++] = points[i];
  }
  points.resize(kept);
}

/// Parents before children, from the root.
std::vector<std::uint32_t> from_root(const std::vector<SkeletonBlock>& blocks, OpContext& ctx) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t b = 0; b < blocks.size(); ++b)
    if (blocks[b].parent == kNoBlock) order.push_back(b);
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (at % kPerPoll == 0) ctx.checkpoint();
    order.insert(order.end(), blocks[order[at]].children.begin(), blocks[order[at]].children.end());
  }
  return order;
}

/// Makes the root that carries the most points the parent of the others.
std::uint64_t join_roots(std::vector<SkeletonBlock>& blocks) {
  std::vector<std::uint64_t> carried(blocks.size());
  for (std::size_t b = blocks.size(); b-- > 0;) {
    carried[b] += blocks[b].num_points;
    if (blocks[b].parent != kNoBlock) carried[blocks[b].parent] += carried[b];
  }
  std::uint32_t root = kNoBlock;
  for (std::uint32_t b = 0; b < blocks.size(); ++b)
    if (blocks[b].parent == kNoBlock && (root == kNoBlock || carried[b] > carried[root])) root = b;
  std::uint64_t joined = 0;
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].parent != kNoBlock || b == root) continue;
    blocks[b].parent = root;
    ++joined;
  }
  return joined;
}

/// The blocks that pass the filters, renumbered, and which one each was.
std::vector<std::uint32_t> take_kept(const LevelBlocks& found, const SkeletonParams& params, Skeleton& out,
                                     OpContext& ctx) {
  const std::vector<bool> kept = kept_blocks(found.blocks, params);
  std::vector<std::uint32_t> place(kept.size(), kNoBlock), source;
  for (std::uint32_t b = 0; b < kept.size(); ++b) {
    if (b % kPerPoll == 0) ctx.checkpoint();
    if (!kept[b]) continue;
    place[b] = static_cast<std::uint32_t>(source.size());
    source.push_back(b);
    SkeletonBlock block = found.blocks[b];
    if (block.parent != kNoBlock) block.parent = place[block.parent];
    out.blocks.push_back(std::move(block));
  }
  out.blocks_after = source.size();
  if (source.size() < 2) return source;
  out.joined_roots = join_roots(out.blocks);
  ctx.checkpoint();
  for (std::uint32_t b = 0; b < out.blocks.size(); ++b)
    if (out.blocks[b].parent != kNoBlock) out.blocks[out.blocks[b].parent].children.push_back(b);
  return source;
}

/// A node for every block that is not at the place of its parent's.
SkeletonNodes nodes_of(const std::vector<SkeletonBlock>& blocks, const std::vector<std::uint32_t>& source,
                       const LevelBlocks& found, OpContext& ctx) {
  std::vector<std::uint32_t> at(blocks.size());  // the block whose node a block has
  for (const std::uint32_t b : from_root(blocks, ctx)) {
    at[b] = b;
    if (blocks[b].parent == kNoBlock) continue;
    const std::uint32_t above = at[blocks[b].parent];
    if (squared_distance(blocks[b].center, blocks[above].center) <= kShortestEdge * kShortestEdge)
      at[b] = above;
  }
  std::vector<std::uint32_t> number(blocks.size(), kNoBlock);
  SkeletonNodes nodes;
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    if (b % kPerPoll == 0) ctx.checkpoint();
    if (at[b] != b) continue;
    number[b] = static_cast<std::uint32_t>(nodes.place.size());
    nodes.place.push_back(blocks[b].center);
    const std::uint64_t first = found.first[source[b]], end = found.first[source[b] + 1];
    nodes.members.push_back(found.member.view().subspan(first, end - first));
  }
  nodes.parent.assign(nodes.place.size(), kNoBlock);
  nodes.children.resize(nodes.place.size());
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    if (b % kPerPoll == 0) ctx.checkpoint();
    if (at[b] != b || blocks[b].parent == kNoBlock) continue;
    const std::uint32_t parent = number[at[blocks[b].parent]];
    nodes.parent[number[b]] = parent;
    nodes.children[parent].push_back(number[b]);
  }
  return nodes;
}

void smooth(const SkeletonNodes& nodes, std::uint32_t iterations, std::vector<Vec3d>& place, OpContext& ctx) {
  std::vector<Vec3d> next = place;
  for (std::uint32_t k = 0; k < iterations; ++k) {
    ctx.checkpoint();
    bool moved = false;
    for (std::size_t i = 0; i < place.size(); ++i) {
      if (i % kPerPoll == 0) ctx.checkpoint();
      const std::vector<std::uint32_t>& children = nodes.children[i];
      const bool root = nodes.parent[i] == kNoBlock;
      if (children.size() != (root ? 2 : 1)) continue;
      const Vec3d& before = place[root ? children[1] : nodes.parent[i]];
      const Vec3d mean = (before + place[i] + place[children[0]]) * (1.0 / 3);
      moved = moved || !(mean == place[i]);
      next[i] = mean;
    }
    if (!moved) return;
    place = next;
  }
}

/// A leaf has order 1; a parent the largest one of its children, and one more if two have it.
std::vector<std::uint32_t> strahler(const SkeletonNodes& nodes, OpContext& ctx) {
  std::vector<std::uint32_t> order(nodes.place.size(), 1), down;
  for (std::uint32_t i = 0; i < order.size(); ++i)
    if (nodes.parent[i] == kNoBlock) down.push_back(i);
  for (std::size_t at = 0; at < down.size(); ++at) {
    if (at % kPerPoll == 0) ctx.checkpoint();
    down.insert(down.end(), nodes.children[down[at]].begin(), nodes.children[down[at]].end());
  }
  for (std::size_t at = down.size(); at-- > 0;) {
    if (at % kPerPoll == 0) ctx.checkpoint();
    std::uint32_t most = 0, times = 0;
    for (const std::uint32_t child : nodes.children[down[at]]) {
      if (order[child] == most) ++times;
      if (order[child] > most) {
        most = order[child];
        times = 1;
      }
    }
    if (most > 0) order[down[at]] = most + (times >= 2 ? 1 : 0);
  }
  return order;
}

void lay_out(const SkeletonNodes& nodes, Skeleton& out, OpContext& ctx) {
  out.branch_orders = strahler(nodes, ctx);
  for (std::uint32_t i = 0; i < out.points.size(); ++i) {
    if (nodes.parent[i] == kNoBlock) continue;
    out.edges.emplace_back(nodes.parent[i], i);
    out.total_length_m += std::sqrt(squared_distance(out.points[nodes.parent[i]], out.points[i]));
  }
}

SkeletonFailure find_skeleton(BulkVector<Vec3d> points, const SkeletonParams& params, Skeleton& out,
                              OpContext& ctx) {
  const HopGraph graph = hop_graph(std::move(points), params.max_neighbors, out.search_radius_m, ctx);
  const Hops hops = count_hops(graph, params.root_threshold_m, ctx);
  out.reached = hops.reached;
  out.crowded =
      static_cast<std::uint64_t>(std::count(graph.asked_count.begin(), graph.asked_count.end(), graph.width));
  if (hops.reached == 0) return SkeletonFailure::kNoRoots;
  if (static_cast<double>(hops.reached) < kLeastSkeletonReach * static_cast<double>(graph.size()))
    return SkeletonFailure::kUnreached;
  const LevelBlocks found = level_blocks(graph, hops, params, ctx);
  out.blocks_before = found.blocks.size();
  const std::vector<std::uint32_t> source = take_kept(found, params, out, ctx);
  if (source.empty()) return SkeletonFailure::kNoBlocks;
  if (source.size() == 1) return SkeletonFailure::kFewBlocks;
  const SkeletonNodes nodes = nodes_of(out.blocks, source, found, ctx);
  out.points = params.recenter ? medial_axis(graph.point, nodes, ctx) : nodes.place;
  if (params.smooth_skeleton) smooth(nodes, params.smoothing_iterations, out.points, ctx);
  if (params.recenter) reach_ends(graph.point, nodes, out.points, ctx);
  lay_out(nodes, out, ctx);
  return SkeletonFailure::kNone;
}

}  // namespace

Skeleton level_set_skeleton(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                            const SkeletonParams& params, OpContext& ctx) {
  check(params);
  SortedPoints local = sorted_points(positions, skip, ctx);
  Skeleton out{};
  out.non_finite = local.non_finite;
  out.points_before = out.points_after = local.point.size();
  out.failure = SkeletonFailure::kFewPoints;
  if (out.points_before < kLeastSkeletonPoints) return out;
  if (params.remove_outliers) remove_outliers(local.point, params, ctx);
  out.points_after = local.point.size();
  out.failure = SkeletonFailure::kFewAfterOutliers;
  if (out.points_after < kLeastSkeletonPoints) return out;
  out.search_radius_m = params.search_radius_m.value_or(0);
  if (out.search_radius_m < kLeastAutomaticRadius)
    out.search_radius_m = automatic_radius(local.point.view(), ctx).value_or(kFallbackRadius);
  out.failure = find_skeleton(std::move(local.point), params, out, ctx);
  if (out.failure != SkeletonFailure::kNone) out.blocks.clear();
  for (SkeletonBlock& block : out.blocks) block.center = block.center + local.origin;
  for (Vec3d& point : out.points) point = point + local.origin;
  return out;
}

std::uint64_t skeleton_bytes(std::uint64_t points, std::uint32_t max_neighbors) {
  return points * (110 + 9 * std::uint64_t{max_neighbors});
}

}  // namespace pc
