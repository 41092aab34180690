#include "ops/trees/path_trees.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/trees/path_bases.h"
#include "ops/trees/path_crowns.h"
#include "ops/trees/path_graph.h"
#include "ops/trees/path_nodes.h"
#include "ops/trees/path_roots.h"
#include "ops/trees/path_search.h"
#include "ops/trees/stem_feet.h"
#include "ops/trees/trunk_bases.h"

namespace pc {

namespace {

constexpr std::size_t kPollEvery = 4096;
constexpr std::size_t kBlock = 65'536;

/// A root of paths, or several that are one tree.
struct Group {
  TreeOrigin origin;
  Vec3d foot{0, 0, 0};  ///< sum of the places of its starts
  std::uint64_t starts = 0, points = 0;
  float height = std::numeric_limits<float>::quiet_NaN();
};

/// What the roots of the paths stand for.
struct Grouping {
  std::vector<std::uint32_t> group_of_root;  ///< kNoRoot = no tree
  std::vector<Group> groups;
  std::vector<std::uint8_t> in_carpet;  ///< by root, as far as it goes: 1 = of a low carpet
  LowCarpet carpet{};

  std::uint32_t of(std::uint32_t root) const { return root == kNoRoot ? kNoRoot : group_of_root[root]; }
  void add_start(const PathStart& start, const PathNodes& nodes) {
    const std::uint32_t group = of(start.root);
    if (group == kNoRoot) return;
    groups[group].foot = groups[group].foot + nodes.place[start.node];
    ++groups[group].starts;
  }
};

/// Points and heights of the trees from the nodes of their paths.
void measure(const PathNodes& nodes, const Paths& paths, Grouping& grouping, OpContext& ctx) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    const std::uint32_t root = paths.root[i], number = grouping.of(root);
    if (number == kNoRoot) {
      if (root < grouping.in_carpet.size() && grouping.in_carpet[root] != 0)
        grouping.carpet.point_count += nodes.points[i];
      continue;
    }
    Group& group = grouping.groups[number];
    group.points += nodes.points[i];
    if (!(nodes.height[i] <= group.height) && std::isfinite(nodes.height[i])) group.height = nodes.height[i];
  }
}

/// Paths from seeds alone.
Grouping grow_seeds(const PathNodes& nodes, const PathGraph& graph, const std::vector<StemRoot>& roots,
                    const PathConstants& constants, Paths& paths, OpContext& ctx) {
  Grouping grouping;
  grouping.groups.assign(roots.size(), Group{TreeOrigin::kSeed});
  grouping.group_of_root.resize(roots.size());
  std::iota(grouping.group_of_root.begin(), grouping.group_of_root.end(), 0U);
  const std::vector<PathStart> starts = stem_starts(nodes, roots, HUGE_VAL, 0, constants, ctx);
  find_paths(graph, nodes.place.view(), starts, constants, paths, ctx);
  reach_islands(graph, nodes.place.view(), constants, paths, ctx);
  for (const PathStart& start : starts) grouping.add_start(start, nodes);
  return grouping;
}

/// Paths from stems and from plants without one, then from tops of the canopy.
Grouping grow_found(const PathNodes& nodes, const PathGraph& graph, const std::vector<StemRoot>& stems,
                    bool low_trees, const PathConstants& constants, Paths& paths, OpContext& ctx) {
  const auto stem_count = static_cast<std::uint32_t>(stems.size());
  std::vector<PathStart> at_stems =
      stem_starts(nodes, stems, constants.root_top_m + 1, constants.limb_cost_m, constants, ctx);
  const double top_m = low_trees ? tell_limbs(nodes, stems.size(), constants, at_stems) : constants.low_m;
  const std::vector<PathStart> low = low_starts(nodes, top_m, stem_count, constants, ctx);
  std::vector<PathStart> starts = at_stems;
  starts.insert(starts.end(), low.begin(), low.end());
  const Span<const Vec3d> places = nodes.place.view();
  find_paths(graph, places, starts, constants, paths, ctx);
  reach_islands(graph, places, constants, paths, ctx);
  const Plants plants = plants_of(nodes, low, stem_count, paths, constants, ctx);
  const std::vector<PathStart> tops =
      crown_starts(nodes, paths, stem_count + static_cast<std::uint32_t>(low.size()), ctx);
  if (!tops.empty()) {
    find_paths(graph, places, tops, constants, paths, ctx);
    reach_islands(graph, places, constants, paths, ctx);
  }
  Grouping grouping;
  grouping.groups.assign(stems.size(), Group{TreeOrigin::kStem});
  grouping.groups.resize(stems.size() + plants.count, Group{TreeOrigin::kBase});
  grouping.groups.resize(grouping.groups.size() + tops.size(), Group{TreeOrigin::kCrown});
  auto& group_of = grouping.group_of_root;
  group_of.resize(stems.size());
  std::iota(group_of.begin(), group_of.end(), 0U);
  for (const std::uint32_t plant : plants.of_start)
    group_of.push_back(plant == kNoRoot ? kNoRoot : stem_count + plant);
  grouping.in_carpet.assign(stems.size(), 0);
  grouping.in_carpet.insert(grouping.in_carpet.end(), plants.in_carpet.begin(), plants.in_carpet.end());
  grouping.carpet.area_m2 = plants.carpet_m2;
  for (std::size_t k = 0; k < tops.size(); ++k)
    group_of.push_back(stem_count + plants.count + static_cast<std::uint32_t>(k));
  using List = const std::vector<PathStart>*;
  for (const List list : {List{&at_stems}, &low, &tops}) {
    for (const PathStart& start : *list) grouping.add_start(start, nodes);
  }
  return grouping;
}

/// Buttresses and prop roots become a part of the tree that they belong to.
void join_feet(const PathNodes& nodes, const PathGraph& graph, const std::vector<StemRoot>& stems,
               const Paths& paths, Grouping& grouping, OpContext& ctx) {
  BulkVector<std::uint32_t> group_of_node(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    group_of_node[i] = grouping.of(paths.root[i]);
  }
  std::vector<FootGroup> groups;
  for (const Group& group : grouping.groups)
    groups.push_back({group.height, group.origin == TreeOrigin::kStem});
  const std::vector<std::uint32_t> owner = stem_feet(nodes, graph, group_of_node.view(), groups, stems, ctx);
  for (std::uint32_t& group : grouping.group_of_root)
    if (group != kNoRoot) group = owner[group];
  for (std::uint32_t k = 0; k < owner.size(); ++k) {
    if (owner[k] == k) continue;
    grouping.groups[owner[k]].points += grouping.groups[k].points;
    grouping.groups[k].points = 0;
  }
}

bool is_tree(const Group& group, const PathConstants& constants) {
  if (group.origin == TreeOrigin::kSeed) return true;
  return static_cast<double>(group.points) >= constants.least_points &&
         !(static_cast<double>(group.height) < constants.least_height_m);
}

/// Numbers the trees and writes their list; returns the tree of each group, 0 = none.
std::vector<std::uint32_t> number_trees(const Grouping& grouping, const std::vector<StemRoot>& seeds,
                                        const PathNodes& nodes, const PathConstants& constants,
                                        std::vector<PathTree>& trees) {
  struct Place {
    Vec3d base;
    std::uint32_t group;
  };
  std::vector<Place> order;
  for (std::size_t k = 0; k < grouping.groups.size(); ++k) {
    const Group& group = grouping.groups[k];
    if (!is_tree(group, constants)) continue;
    const Vec3d base =
        group.starts == 0 ? seeds[k].foot : group.foot * (1 / static_cast<double>(group.starts));
    order.push_back({base, static_cast<std::uint32_t>(k)});
  }
  if (seeds.empty()) {
    std::sort(order.begin(), order.end(), [](const Place& a, const Place& b) {
      return std::tie(a.base.x, a.base.y, a.group) < std::tie(b.base.x, b.base.y, b.group);
    });
  }
  std::vector<std::uint32_t> tree_of(grouping.groups.size(), 0);
  for (const Place& place : order) {
    const Group& group = grouping.groups[place.group];
    trees.push_back(
        {place.base + nodes.origin, static_cast<double>(group.height), group.points, group.origin});
    tree_of[place.group] = static_cast<std::uint32_t>(trees.size());
  }
  return tree_of;
}

/// Per tree: whether it was grown from a seed or a stem.
std::vector<std::uint8_t> stems_known(const std::vector<PathTree>& trees) {
  std::vector<std::uint8_t> known;
  for (const PathTree& tree : trees)
    known.push_back(tree.origin == TreeOrigin::kSeed || tree.origin == TreeOrigin::kStem ? 1 : 0);
  return known;
}

void check(HitPoints points, Span<const float> heights, Span<const Vec3d> seeds, const PathConstants& c) {
  require(heights.size == points.size(), "every point needs a height, NaN if it is unknown");
  for (const Vec3d& seed : seeds) require(is_finite(seed), "seeds must be finite");
  require(c.neighbors >= 1 && c.neighbors <= kMostPathNeighbors, "a node has 1 to 32 neighbours");
}

}  // namespace

PathTreesResult path_trees(HitPoints points, Span<const float> heights, Span<const Vec3d> seeds,
                           const PathTreesParams& params, OpContext& ctx) {
  PathConstants constants = params.constants;
  check(points, heights, seeds, constants);
  const auto& [layer_min, layer_max] = params.trunks;
  constants.root_top_m = std::min(constants.root_top_m, layer_max);
  const StemDetectionResult found =
      detect_stems(points, heights, {layer_min, layer_max, kWidestStem, 0, true}, ctx);
  const PathNodes nodes = path_nodes(points, heights, params.node_m, params.origin, ctx);
  std::vector<StemRoot> stems;
  for (const DetectedStem& stem : found.stems) stems.push_back(root_of(stem, nodes.origin));
  const PathGraph graph = path_graph(nodes.place.view(), static_cast<std::uint32_t>(constants.neighbors),
                                     constants.most_gap_m, ctx);
  Paths paths(nodes.size());
  if (!seeds.empty()) stems = roots_of_seeds(seeds, stems, nodes, constants, ctx);
  const bool low_trees = params.trunks.is_of_low_trees();
  Grouping grouping = seeds.empty() ? grow_found(nodes, graph, stems, low_trees, constants, paths, ctx)
                                    : grow_seeds(nodes, graph, stems, constants, paths, ctx);
  measure(nodes, paths, grouping, ctx);
  if (seeds.empty()) join_feet(nodes, graph, stems, paths, grouping, ctx);
  PathTreesResult result{
      Column<std::uint32_t>(points.size()), {}, nodes.edge_m, nodes.size(), {}, grouping.carpet};
  const std::vector<std::uint32_t> tree_of =
      number_trees(grouping, seeds.empty() ? std::vector<StemRoot>{} : stems, nodes, constants, result.trees);
  const auto labels = result.tree_instance.view();
  ctx.begin_phase("Labelling points", points.size());
  parallel_for(ctx, points.size(), kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t node = nodes.node_of[i];
      const std::uint32_t group = node == kNoNode ? kNoRoot : grouping.of(paths.root[node]);
      labels[i] = group == kNoRoot ? 0 : tree_of[group];
    }
  });
  const std::vector<std::uint8_t> has_stem = stems_known(result.trees);
  result.high = high_points(heights, labels, {has_stem.data(), has_stem.size()}, ctx);
  return result;
}

double path_node_size(HitPoints points, const PathConstants& constants, OpContext& ctx) {
  return path_node_edge(points, constants.finest_node_m, constants.most_nodes, ctx);
}

std::uint64_t path_trees_bytes(std::uint64_t points, const PathConstants& constants) {
  const std::uint64_t nodes = std::min(points, constants.most_nodes + constants.most_nodes / 50);
  const auto neighbors = static_cast<std::uint64_t>(constants.neighbors);
  const std::uint64_t gathering = points * 28, paths = nodes * (44 + 6 * neighbors + 80);
  return points * 8 + std::max(gathering, paths) + (std::uint64_t{16} << 20);
}

}  // namespace pc
