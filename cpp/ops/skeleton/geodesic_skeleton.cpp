#include "ops/skeleton/geodesic_skeleton.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/parallel.h"
#include "ops/skeleton/geodesic_distance.h"
#include "ops/skeleton/point_graph.h"
#include "ops/skeleton/ring_arcs.h"
#include "spatial/kd_tree.h"
#include "spatial/union_find.h"

namespace pc {

namespace {

constexpr double kEdge = 4, kBridge = 15, kBin = 6, kMerge = 8;  // in spacings
constexpr double kRootHeight = 0.05;                             // metres
constexpr double kOrphanBins = 3;
constexpr std::uint64_t kFewestPoints = 3;
constexpr int kSmoothing = 5;
constexpr std::size_t kGrain = 65536;

/// A pair of nodes, or of a block and another.
using Pair = std::pair<std::uint32_t, std::uint32_t>;

/// Nodes under construction.
struct Nodes {
  std::vector<SkeletonNode> list;
  std::vector<std::uint32_t> of_vertex;  ///< kNoSkeletonNode where there is none
};

/// Renumbers the nodes: `target` names the new node of each old one.
void renumber(Nodes& nodes, const std::vector<std::uint32_t>& target) {
  for (std::uint32_t& node : nodes.of_vertex)
    if (node != kNoSkeletonNode) node = target[node];
}

/// Blocks with enough points, ordered by bin, then by their lowest vertex, with the sums of their points.
Nodes nodes_of_blocks(const PointGraph& graph, const GeodesicDistance& found, double bin_m) {
  const std::size_t count = graph.vertex.size();
  std::vector<std::uint64_t> points(count, 0);
  for (const std::uint32_t vertex : graph.of_point)
    if (std::isfinite(found.distance_m[vertex])) ++points[found.block[vertex]];
  const auto level = [&](std::uint32_t v) {
    return static_cast<std::uint32_t>(std::min(std::floor(found.distance_m[v] / bin_m), 4294967294.0));
  };
  std::vector<std::uint32_t> blocks;
  for (std::size_t i = 0; i < count; ++i)
    if (points[i] >= kFewestPoints) blocks.push_back(static_cast<std::uint32_t>(i));
  std::stable_sort(blocks.begin(), blocks.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return level(a) < level(b); });
  Nodes nodes{{}, std::vector<std::uint32_t>(count, kNoSkeletonNode)};
  for (const std::uint32_t block : blocks) {
    nodes.of_vertex[block] = static_cast<std::uint32_t>(nodes.list.size());
    nodes.list.push_back({{0, 0, 0}, kNoSkeletonNode, level(block), 0});
  }
  for (std::size_t i = 0; i < count; ++i) nodes.of_vertex[i] = nodes.of_vertex[found.block[i]];
  for (std::size_t i = 0; i < graph.local.size(); ++i) {
    const std::uint32_t node = nodes.of_vertex[graph.of_point[i]];
    if (node == kNoSkeletonNode) continue;
    nodes.list[node].position = nodes.list[node].position + graph.local[i];
    ++nodes.list[node].count;
  }
  for (SkeletonNode& node : nodes.list)
    node.position = node.position * (1.0 / static_cast<double>(node.count));
  return nodes;
}

std::vector<Vec3d> positions_of(const Nodes& nodes) {
  std::vector<Vec3d> out;
  for (const SkeletonNode& node : nodes.list) out.push_back(node.position);
  return out;
}

/// Makes one node of those of a set.
void merge_sets(Nodes& nodes, UnionFind& sets) {
  std::vector<std::uint32_t> target(nodes.list.size());
  std::vector<SkeletonNode> merged;
  for (std::size_t i = 0; i < nodes.list.size(); ++i) {
    const std::uint32_t root = sets.root_of(i);
    const SkeletonNode& own = nodes.list[i];
    const Vec3d sum = own.position * static_cast<double>(own.count);
    if (root == i) {
      target[i] = static_cast<std::uint32_t>(merged.size());
      merged.push_back(own);
      merged.back().position = sum;
    } else {
      target[i] = target[root];
      SkeletonNode& into = merged[target[i]];
      into.position = into.position + sum;
      into.count += own.count;
    }
  }
  for (SkeletonNode& node : merged) node.position = node.position * (1.0 / static_cast<double>(node.count));
  renumber(nodes, target);
  nodes.list = std::move(merged);
}

/// Makes one node of those of a bin that are near each other: a cross-section that is seen in several arcs.
void merge_near(Nodes& nodes, double merge_m, OpContext& ctx) {
  const std::vector<Vec3d> at = positions_of(nodes);
  const KdTree tree({at.data(), at.size()}, ctx);
  UnionFind sets(at.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (i % 1024 == 0) ctx.checkpoint();
    tree.view().for_each_within(
        at[i], merge_m * merge_m, [&](std::uint64_t j, std::uint64_t, double squared) {
          if (j < i && squared < merge_m * merge_m && nodes.list[i].level == nodes.list[j].level)
            sets.join(i, j);
        });
  }
  merge_sets(nodes, sets);
}

/// Pairs (node, node of a lower bin) with points within `edge_m`; sorted, each once.
std::vector<Pair> adjacent_below(const PointGraph& graph, const KdTree& tree, const GeodesicDistance& found,
                                 const Nodes& nodes, double edge_m, double bin_m, OpContext& ctx) {
  constexpr std::size_t kBlock = 1024;
  std::vector<std::vector<Pair>> parts((graph.vertex.size() + kBlock - 1) / kBlock);
  parallel_for(ctx, parts.size(), 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t part = first; part < last; ++part) {
      std::vector<Pair>& pairs = parts[part];
      for (std::size_t v = part * kBlock, end = std::min(graph.vertex.size(), v + kBlock); v < end; ++v) {
        const std::uint32_t node = nodes.of_vertex[v];
        if (node == kNoSkeletonNode) continue;
        const std::uint32_t level = nodes.list[node].level;
        if (found.distance_m[v] - level * bin_m > edge_m) continue;  // nothing lower is in reach
        tree.view().for_each_within(graph.vertex[v], edge_m * edge_m,
                                    [&](std::uint64_t row, std::uint64_t, double) {
                                      const std::uint32_t other = nodes.of_vertex[row];
                                      if (other == kNoSkeletonNode || nodes.list[other].level >= level)
                                        return;
                                      if (pairs.empty() || pairs.back() != Pair{node, other})
                                        pairs.emplace_back(node, other);
                                    });
      }
      std::sort(pairs.begin(), pairs.end());
      pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    }
  });
  std::vector<Pair> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// The vertex of each node that is nearest to the base.
std::vector<std::uint32_t> first_vertices(const Nodes& nodes, const GeodesicDistance& found) {
  std::vector<std::uint32_t> out(nodes.list.size(), kNoSkeletonNode);
  for (std::uint32_t v = 0; v < nodes.of_vertex.size(); ++v) {
    if (nodes.of_vertex[v] == kNoSkeletonNode) continue;
    std::uint32_t& best = out[nodes.of_vertex[v]];
    if (best == kNoSkeletonNode || found.distance_m[v] < found.distance_m[best]) best = v;
  }
  return out;
}

/// The first node of a lower bin on the shortest path from `vertex` to the base, or the root.
std::uint32_t node_on_path(const Nodes& nodes, const GeodesicDistance& found, std::uint32_t vertex,
                           std::uint32_t root) {
  const std::uint32_t level = nodes.list[nodes.of_vertex[vertex]].level;
  for (std::uint32_t at = vertex; found.previous[at] != at; at = found.previous[at]) {
    const std::uint32_t node = nodes.of_vertex[found.previous[at]];
    if (node != kNoSkeletonNode && nodes.list[node].level < level) return node;
  }
  return root;
}

/// Gives every node a parent, and puts the root first.
void connect(Nodes& nodes, const std::vector<Pair>& below, const GeodesicDistance& found, double orphan_m,
             OpContext& ctx) {
  std::vector<SkeletonNode>& list = nodes.list;
  std::uint32_t root = 0;
  for (std::uint32_t i = 1; i < list.size() && list[i].level == list[0].level; ++i)
    if (list[i].count > list[root].count) root = i;
  for (const auto& [node, lower] : below) {
    SkeletonNode& own = list[node];
    const auto away = [&](std::uint32_t other) {
      return squared_distance(own.position, list[other].position);
    };
    if (own.parent == kNoSkeletonNode || away(lower) < away(own.parent)) own.parent = lower;
  }
  const std::vector<Vec3d> at = positions_of(nodes);
  const KdTree tree({at.data(), at.size()}, ctx);
  const std::vector<std::uint32_t> first = first_vertices(nodes, found);
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    if (i % 64 == 0) ctx.checkpoint();
    if (i == root || list[i].parent != kNoSkeletonNode) continue;
    double best = std::numeric_limits<double>::infinity();
    list[i].parent = node_on_path(nodes, found, first[i], root);
    tree.view().for_each_within(at[i], orphan_m * orphan_m,
                                [&](std::uint64_t row, std::uint64_t, double squared) {
                                  const auto j = static_cast<std::uint32_t>(row);
                                  if (list[j].level >= list[i].level || squared > best) return;
                                  if (squared == best && j > list[i].parent) return;
                                  best = squared;
                                  list[i].parent = j;
                                });
  }
  list[root].parent = kNoSkeletonNode;
  std::vector<std::uint32_t> target(list.size());
  for (std::uint32_t i = 0; i < list.size(); ++i) target[i] = i == root ? 0 : i < root ? i + 1 : i;
  std::rotate(list.begin(), list.begin() + root, list.begin() + root + 1);
  for (SkeletonNode& node : list)
    if (node.parent != kNoSkeletonNode) node.parent = target[node.parent];
  renumber(nodes, target);
}

std::vector<std::uint32_t> child_counts(const std::vector<SkeletonNode>& list) {
  std::vector<std::uint32_t> counts(list.size(), 0);
  for (const SkeletonNode& node : list)
    if (node.parent != kNoSkeletonNode) ++counts[node.parent];
  return counts;
}

/// Drops ends of one node at forks; of a fork with nothing else, the end with the most points stays. The points of a
/// dropped end go to its parent.
void drop_spurs(Nodes& nodes) {
  std::vector<SkeletonNode>& list = nodes.list;
  const std::vector<std::uint32_t> children = child_counts(list);
  std::vector<std::uint32_t> kept(list.size(), kNoSkeletonNode);  // a child of each fork that stays
  for (std::uint32_t i = 1; i < list.size(); ++i) {
    std::uint32_t& best = kept[list[i].parent];
    const auto better = [&](std::uint32_t a, std::uint32_t b) {
      const bool branch_a = children[a] > 0, branch_b = children[b] > 0;
      return branch_a != branch_b ? branch_a : list[a].count > list[b].count;
    };
    if (best == kNoSkeletonNode || better(i, best)) best = i;
  }
  std::vector<std::uint32_t> target(list.size());
  std::vector<SkeletonNode> out;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const std::uint32_t parent = list[i].parent;
    if (parent != kNoSkeletonNode && children[i] == 0 && children[parent] > 1 && kept[parent] != i) {
      target[i] = target[parent];
      continue;
    }
    target[i] = static_cast<std::uint32_t>(out.size());
    out.push_back(list[i]);
    if (parent != kNoSkeletonNode) out.back().parent = target[parent];
  }
  renumber(nodes, target);
  list = std::move(out);
}

/// Chains become smoother; root, forks and ends stay.
void smooth(std::vector<SkeletonNode>& list) {
  const std::vector<std::uint32_t> children = child_counts(list);
  std::vector<std::uint32_t> child(list.size(), 0);
  for (std::uint32_t i = 1; i < list.size(); ++i) child[list[i].parent] = i;
  std::vector<Vec3d> next(list.size());
  for (int pass = 0; pass < kSmoothing; ++pass) {
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      next[i] = list[i].position;
      if (i == 0 || children[i] != 1) continue;
      const Vec3d beside = list[list[i].parent].position + list[child[i]].position;
      next[i] = list[i].position * 0.5 + beside * 0.25;
    }
    for (std::uint32_t i = 0; i < list.size(); ++i) list[i].position = next[i];
  }
}

/// Writes what was found for the sorted points to the rows of the input.
void hand_to_rows(const PointGraph& graph, const GeodesicDistance& found, const Nodes& nodes,
                  std::size_t rows, GeodesicSkeleton& out, OpContext& ctx) {
  out.node_of_point = BulkVector<std::uint32_t>(rows);
  out.distance_m = BulkVector<float>(rows);
  parallel_for(ctx, rows, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      out.node_of_point[i] = kNoSkeletonNode;
      out.distance_m[i] = std::numeric_limits<float>::quiet_NaN();
    }
  });
  for (std::size_t i = 0; i < graph.order.size(); ++i) {
    const std::uint32_t vertex = graph.of_point[i];
    if (!std::isfinite(found.distance_m[vertex])) continue;
    ++out.reached_count;
    out.distance_m[graph.order[i]] = static_cast<float>(found.distance_m[vertex]);
    if (!nodes.of_vertex.empty()) out.node_of_point[graph.order[i]] = nodes.of_vertex[vertex];
  }
}

}  // namespace

std::uint64_t geodesic_skeleton_bytes(std::uint64_t point_count) { return 190 * point_count + (1 << 20); }

GeodesicSkeleton geodesic_skeleton(HitPoints points, OpContext& ctx) {
  return geodesic_skeleton(point_graph(points.xyz(), 0, ctx), points.size(), {RingArcs::kApart, false}, ctx);
}

GeodesicSkeleton geodesic_skeleton(const PointGraph& graph, std::size_t rows, const SkeletonExtras& extras,
                                   OpContext& ctx) {
  GeodesicSkeleton out{{}, {}, {}, graph.spacing_m, graph.order.size(), 0, 0};
  Nodes nodes;
  GeodesicDistance found{BulkVector<double>(graph.vertex.size()), {}, {}, 0};
  for (double& distance : found.distance_m) distance = std::numeric_limits<double>::infinity();
  if (std::isfinite(graph.spacing_m)) {
    const double d = graph.spacing_m;
    const KdTree tree(graph.vertex.view(), ctx);
    BulkVector<std::uint32_t> weight(graph.vertex.size());
    for (const std::uint32_t vertex : graph.of_point) ++weight[vertex];
    found =
        geodesic_distance(graph, tree, weight.view(),
                          {kEdge * d, kBridge * d, kRootHeight, kBin * d, extras.joins_sparse_surfaces}, ctx);
    out.bridge_count = found.bridge_count;
    nodes = nodes_of_blocks(graph, found, kBin * d);
    if (!nodes.list.empty()) {
      merge_near(nodes, kMerge * d, ctx);
      if (extras.arcs == RingArcs::kJoined) {
        UnionFind sets =
            ring_arcs(nodes.list, {nodes.of_vertex.data(), nodes.of_vertex.size()}, graph.vertex.view(), ctx);
        merge_sets(nodes, sets);
      }
      connect(nodes, adjacent_below(graph, tree, found, nodes, kEdge * d, kBin * d, ctx), found,
              kOrphanBins * kBin * d, ctx);
      drop_spurs(nodes);
      smooth(nodes.list);
    }
  }
  hand_to_rows(graph, found, nodes, rows, out, ctx);
  for (SkeletonNode& node : nodes.list) node.position = node.position + graph.origin;
  out.nodes = std::move(nodes.list);
  return out;
}

}  // namespace pc
