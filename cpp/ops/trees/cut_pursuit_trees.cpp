#include "ops/trees/cut_pursuit_trees.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/radix_sort.h"
#include "ops/trees/cut_pursuit.h"
#include "ops/trees/cut_pursuit_graph.h"
#include "ops/trees/cut_pursuit_nodes.h"
#include "ops/trees/gap_components.h"
#include "ops/trees/segment_groups.h"
#include "ops/trees/segment_similarity.h"
#include "ops/trees/tree_seeds.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 65536;
constexpr std::uint64_t kCollapseNodes = 1000;  ///< fewer may well be one segment
constexpr double kLeastGrouping = 0.02;         ///< of reg_strength1: less leaves segments of few nodes
constexpr double kRetries[] = {0.9, 1.11, 0.8, 1.25, 0.72};

void require_count(std::uint32_t value, const char* name) {
  if (value < 1 || value > kMaxTreeNeighbors) {
    throw Error(ErrorCode::kInvalidArgument, std::string(name) + " " + std::to_string(value) +
                                                 " is not between 1 and " +
                                                 std::to_string(kMaxTreeNeighbors));
  }
}

void require_number(double value, const char* name, bool may_be_zero) {
  if (!std::isfinite(value) || value < 0 || (value == 0 && !may_be_zero)) {
    throw Error(ErrorCode::kInvalidArgument, std::string(name) + " " + std::to_string(value) +
                                                 " must be finite and " +
                                                 (may_be_zero ? "not negative" : "positive"));
  }
}

void check(const CutPursuitTreesParams& params, Span<const Vec3d> seeds) {
  require_number(params.reg_strength1, "reg_strength1", true);
  require_count(params.min_nn1, "min_nn1");
  require_number(params.decimate_res1, "decimate_res1", false);
  require_number(params.reg_strength2, "reg_strength2", true);
  require_count(params.min_nn2, "min_nn2");
  require_number(params.decimate_res2, "decimate_res2", false);
  require_number(params.max_gap, "max_gap", false);
  require_number(params.rel_height_length_ratio, "rel_height_length_ratio", true);
  require_number(params.vertical_weight, "vertical_weight", true);
  require_count(params.min_nn3, "min_nn3");
  require_number(params.score_candidate_thresh, "score_candidate_thresh", true);
  require(params.score_candidate_thresh <= 1, "score_candidate_thresh must be at most 1");
  require_number(params.init_stem_rel_length_thresh, "init_stem_rel_length_thresh", true);
  require_number(params.max_outlier_gap, "max_outlier_gap", false);
  require(!params.voxel_origin || is_finite(*params.voxel_origin), "voxel_origin must be finite");
  for (const Vec3d& seed : seeds) require(is_finite(seed), "seed points must be finite");
}

BulkVector<Vec3d> local_positions(Span<const Vec3d> points, const Vec3d& origin, OpContext& ctx) {
  BulkVector<Vec3d> out(points.size);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      out[i] = local_position(points[i], origin);
      require(!is_finite(points[i]) || is_finite(out[i]), "the points are too far apart for float64");
    }
  });
  return out;
}

/// Result of one try, per node.
struct NodeTrees {
  VoxelNodes nodes;
  BulkVector<std::uint32_t> tree;  ///< 0 = none
  std::uint64_t tree_count = 0, stage1_count = 0, stage2_count = 0;
};

/// Numbers the trees by x, then y, of their lowest nodes.
std::uint64_t number_trees(Span<const Vec3d> node, BulkVector<std::uint32_t>& tree, std::uint32_t count) {
  std::vector<Vec3d> lowest(count, Vec3d{0, 0, HUGE_VAL});
  const auto before = [](const Vec3d& a, const Vec3d& b) {
    return a.z != b.z ? a.z < b.z : (a.x != b.x ? a.x < b.x : a.y < b.y);
  };
  for (std::size_t i = 0; i < node.size; ++i) {
    if (before(node[i], lowest[tree[i]])) lowest[tree[i]] = node[i];
  }
  std::vector<std::uint32_t> order(count), number(count);
  for (std::uint32_t t = 0; t < count; ++t) order[t] = t;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Vec3d &p = lowest[a], &q = lowest[b];
    if (p.x != q.x) return p.x < q.x;
    return p.y != q.y ? p.y < q.y : p.z < q.z;
  });
  for (std::uint32_t i = 0; i < count; ++i) number[order[i]] = i + 1;
  for (std::uint32_t& t : tree) t = number[t];
  return count;
}

/// Trees by similarity, divided where they do not hold together.
void find_trees(Span<const std::uint32_t> segment, std::vector<std::uint32_t> group,
                Span<const std::uint32_t> component, const CutPursuitTreesParams& params, NodeTrees& out,
                OpContext& ctx) {
  const Span<const Vec3d> node = out.nodes.position.view();
  const SegmentSimilarityParams similarity{params.rel_height_length_ratio, params.vertical_weight,
                                           params.min_nn3, params.score_candidate_thresh,
                                           params.init_stem_rel_length_thresh};
  const std::vector<std::uint32_t> tree = merge_similar(node, segment, std::move(group), similarity, ctx);
  BulkVector<std::uint64_t> keys(node.size);
  for (std::size_t i = 0; i < node.size; ++i) keys[i] = std::uint64_t{tree[segment[i]]} << 32 | component[i];
  std::uint64_t last = ~std::uint64_t{0};
  std::uint32_t count = 0;
  for (const std::uint32_t i : radix_sort_order(keys.view(), 64, ctx)) {
    count += keys[i] != last ? 1 : 0;
    last = keys[i];
    out.tree[i] = count - 1;
  }
  out.tree_count = number_trees(node, out.tree, count);
}

CutGraph stage1_graph(Span<const Vec3d> node, const CutPursuitTreesParams& params, OpContext& ctx) {
  const NeighborTable table = neighbor_table(node, params.min_nn1, ctx);
  return cut_graph(node.size, neighbor_edges(table, params.reg_strength1, ctx).view(), ctx);
}

NodeTrees segment_nodes(Span<const Vec3d> local, Span<const Vec3d> seeds, const CutPursuitTreesParams& params,
                        OpContext& ctx) {
  NodeTrees out;
  ctx.begin_phase("Reducing points to voxels", 0);
  out.nodes = voxel_nodes(local, params.decimate_res1, ctx);
  const Span<const Vec3d> node = out.nodes.position.view();
  out.tree.resize(node.size);
  ctx.begin_phase("Finding neighbours", 0);
  CutPursuitSegments cut;
  {
    const CutGraph graph = stage1_graph(node, params, ctx);
    ctx.begin_phase("Segmenting", 0);
    BulkVector<double> weight(node.size);
    for (double& w : weight) w = 1;
    cut = cut_pursuit(graph, node, weight.view(), ctx);
  }
  out.stage1_count = cut.count;
  const SegmentGroupParams grouping{params.reg_strength2, params.min_nn2, params.decimate_res2,
                                    params.max_gap};
  std::vector<std::uint32_t> group = group_segments(node, cut.segment.view(), cut.count, grouping, ctx);
  out.stage2_count = *std::max_element(group.begin(), group.end()) + 1;
  const BulkVector<std::uint32_t> component = gap_components(node, params.max_outlier_gap, ctx);
  if (seeds.empty()) {
    find_trees(cut.segment.view(), std::move(group), component.view(), params, out, ctx);
  } else {
    ctx.begin_phase("Assigning segments to seeds", 0);
    out.tree = trees_of_seeds(node, cut.segment.view(), group, component.view(), seeds, ctx);
    out.tree_count = seeds.size;
  }
  return out;
}

std::uint64_t finite_count(Span<const Vec3d> points) {
  std::uint64_t count = 0;
  for (const Vec3d& p : points) count += is_finite(p) ? 1 : 0;
  return count;
}

}  // namespace

CutPursuitTreesResult cut_pursuit_trees(HitPoints points, Span<const Vec3d> seeds,
                                        const CutPursuitTreesParams& params, OpContext& ctx) {
  check(params, seeds);
  if (const std::uint64_t finite = finite_count(points.xyz()); finite < kFewestTreePoints) {
    throw Error(ErrorCode::kInvalidArgument, std::to_string(finite) + " points of vegetation; at least " +
                                                 std::to_string(kFewestTreePoints) + " are needed");
  }
  ctx.begin_phase("Reducing points to voxels", 0);
  const Vec3d origin = params.voxel_origin ? *params.voxel_origin : cut_pursuit_origin(points, ctx);
  const BulkVector<Vec3d> local = local_positions(points.xyz(), origin, ctx);
  const BulkVector<Vec3d> local_seeds = local_positions(seeds, origin, ctx);
  CutPursuitTreesParams used = params;
  NodeTrees found = segment_nodes(local.view(), local_seeds.view(), used, ctx);
  const auto one_segment = [](const NodeTrees& trees) {
    return trees.stage1_count == 1 && trees.nodes.position.size() >= kCollapseNodes;
  };
  const bool collapsed = one_segment(found);
  for (std::size_t i = 0; collapsed && i < std::size(kRetries); ++i) {
    CutPursuitTreesParams retry = params;
    retry.decimate_res1 = params.decimate_res1 * kRetries[i];
    retry.decimate_res2 = 2 * retry.decimate_res1;
    NodeTrees again = segment_nodes(local.view(), local_seeds.view(), retry, ctx);
    if (again.stage1_count == 1) continue;
    found = std::move(again);
    used = retry;
    break;
  }
  CutPursuitTreesResult out{Column<std::uint32_t>(points.size()),
                            found.tree_count,
                            found.nodes.position.size(),
                            found.stage1_count,
                            found.stage2_count,
                            used.decimate_res1,
                            used.decimate_res2,
                            collapsed};
  const Span<std::uint32_t> label = out.tree_instance.view();
  parallel_for(ctx, label.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t at = found.nodes.of_point[i];
      label[i] = at == kNoNode ? 0 : found.tree[at];
    }
  });
  return out;
}

Vec3d cut_pursuit_origin(HitPoints points, OpContext& ctx) { return box_center(points.xyz(), ctx); }

std::uint64_t cut_pursuit_node_count(HitPoints points, double decimate_res1, OpContext& ctx) {
  require_number(decimate_res1, "decimate_res1", false);
  const BulkVector<Vec3d> local = local_positions(points.xyz(), box_center(points.xyz(), ctx), ctx);
  return voxel_count(local.view(), decimate_res1, ctx);
}

std::uint64_t cut_pursuit_trees_bytes(std::uint64_t points, std::uint64_t nodes,
                                      const CutPursuitTreesParams& params) {
  // Points: local position, node, keys and order of the sort. Nodes: tree, state of the cut. Neighbours of a node: a
  // place in the table, and two arcs with head, mate, weight and residual capacity. Edges that cost next to nothing leave
  // about a segment per node: gaps and edges of each to its neighbours, its hull, and the groups that it is compared with.
  const auto per_node = [](std::uint32_t k) {
    return 250 + 4 * (std::uint64_t{k} + 6) + 48 * std::uint64_t{k};
  };
  const bool fine = params.reg_strength1 < kLeastGrouping;
  const std::uint64_t stage2 = fine ? per_node(params.min_nn2) + 400 + 8 * std::uint64_t{params.min_nn3}
                                    : per_node(params.min_nn2) / 2;
  return 56 * points + nodes * std::max(per_node(params.min_nn1), stage2);
}

}  // namespace pc
