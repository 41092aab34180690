#include "ops/trees/path_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/parallel.h"
#include "core/prefetch.h"
#include "core/radix_heap.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kPollEvery = 4096;
constexpr int kMostRounds = 12;
constexpr std::size_t kGrain = 256;

struct Open {
  double cost;
  std::uint32_t root, node;
  friend bool operator<(const Open& a, const Open& b) {
    return std::tie(a.root, a.node) < std::tie(b.root, b.node);
  }
};

class Search {
 public:
  Search(const PathGraph& graph, Span<const Vec3d> nodes, const PathConstants& constants, Paths& paths)
      : graph_(graph), nodes_(nodes), constants_(constants), paths_(paths), from_(nodes.size) {}

  void start(const PathStart& at, const Paths::Direction& direction) {
    if (!better(at.cost, at.root, at.node)) return;
    paths_.cost[at.node] = at.cost;
    paths_.root[at.node] = at.root;
    paths_.direction[at.node] = direction;
    from_[at.node] = at.node;
    open_.push({at.cost, at.root, at.node});
  }

  void run(OpContext& ctx) {
    std::size_t steps = 0;
    while (!open_.empty()) {
      if (steps++ % kPollEvery == 0) ctx.checkpoint();
      const Open at = open_.pop([&](const Open& soon) { fetch(soon.node); });
      if (at.cost != paths_.cost[at.node] || at.root != paths_.root[at.node]) continue;
      ctx.advance(1);
      const PathNeighbors neighbors = graph_.of(at.node);
      for (const std::uint32_t next : neighbors) prefetch(&paths_.cost[next]), prefetch(&nodes_[next]);
      if (from_[at.node] != at.node) turn(from_[at.node], at.node);
      for (const std::uint32_t next : neighbors) step(at, next);
    }
  }

  /// Cost of the step from a node with a path.
  double step_cost(std::uint32_t from, std::uint32_t to) const {
    const Vec3d step = nodes_[to] - nodes_[from];
    const double squared = dot(step, step);
    if (!(squared > 0)) return 0;
    const double length = std::sqrt(squared);
    const Paths::Direction& d = paths_.direction[from];
    const double cos = (step.x * static_cast<double>(d.x) + step.y * static_cast<double>(d.y) +
                        step.z * static_cast<double>(d.z)) /
                       length;
    const double scatter = static_cast<double>(std::max(graph_.scatter[from], graph_.scatter[to]));
    const double factor =
        (1 + constants_.turn_cost * (1 - cos) / 2) * (1 + constants_.scatter_cost * scatter);
    const double power = constants_.exponent == 2 ? squared : std::pow(length, constants_.exponent);
    return power * factor;
  }

  /// The direction of a path after a step.
  void turn(std::uint32_t from, std::uint32_t to) {
    const Vec3d step = nodes_[to] - nodes_[from];
    const double length = std::sqrt(dot(step, step));
    const Paths::Direction d = paths_.direction[from];
    paths_.direction[to] = d;
    if (!(length > 0)) return;
    const double share = length / (length + constants_.memory_m);
    const Vec3d before{d.x, d.y, d.z};
    const Vec3d after = before * (1 - share) + step * (share / length);
    const double size = std::sqrt(dot(after, after));
    if (!(size > 0)) return;
    paths_.direction[to] = {static_cast<float>(after.x / size), static_cast<float>(after.y / size),
                            static_cast<float>(after.z / size)};
  }

 private:
  void fetch(std::uint32_t node) const {
    prefetch(&paths_.cost[node]);
    prefetch(&graph_.others_first[node]);
    prefetch(&graph_.near[node * graph_.width]);
  }
  bool better(double cost, std::uint32_t root, std::uint32_t node) const {
    return cost < paths_.cost[node] || (cost == paths_.cost[node] && root < paths_.root[node]);
  }
  void step(const Open& at, std::uint32_t next) {
    if (paths_.cost[next] <= at.cost && paths_.root[next] <= at.root) return;
    const double cost = at.cost + step_cost(at.node, next);
    if (!better(cost, at.root, next)) return;
    paths_.cost[next] = cost;
    paths_.root[next] = at.root;
    from_[next] = at.node;
    open_.push({cost, at.root, next});
  }

  const PathGraph& graph_;
  Span<const Vec3d> nodes_;
  const PathConstants& constants_;
  Paths& paths_;
  BulkVector<std::uint32_t> from_;
  RadixHeap<Open> open_;
};

/// The step from a node with a path to one without.
struct Bridge {
  std::uint32_t from, to;
};

/// For each node without a path the nearest node that has one, within the gap.
std::vector<Bridge> bridges(Span<const Vec3d> nodes, double most_gap_m, const Paths& paths, OpContext& ctx) {
  std::vector<std::uint32_t> left;
  for (std::size_t i = 0; i < nodes.size; ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    const auto node = static_cast<std::uint32_t>(i);
    if (!paths.reach(node)) left.push_back(node);
  }
  if (left.empty() || left.size() == nodes.size) return {};
  BulkVector<std::uint32_t> reached(nodes.size - left.size());
  BulkVector<Vec3d> places(reached.size());
  for (std::size_t i = 0, at = 0; i < nodes.size; ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    const auto node = static_cast<std::uint32_t>(i);
    if (!paths.reach(node)) continue;
    reached[at] = node;
    places[at++] = nodes[i];
  }
  const KdTree tree(places.view(), ctx);
  std::vector<std::uint32_t> nearest(left.size(), kNoRoot);
  parallel_for(ctx, left.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double squared;
      std::uint64_t row, slot;
      if (tree.view().knn_within(nodes[left[i]], 1, most_gap_m * most_gap_m, kd_tree::kNoRow, &squared, &row,
                                 &slot) == 1)
        nearest[i] = reached[row];
    }
  });
  std::vector<Bridge> found;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (nearest[i] != kNoRoot) found.push_back({nearest[i], left[i]});
  }
  return found;
}

}  // namespace

Paths::Paths(std::size_t nodes) : cost(nodes), root(nodes), direction(nodes) {
  std::fill(cost.begin(), cost.end(), std::numeric_limits<double>::infinity());
  std::fill(root.begin(), root.end(), kNoRoot);
}

void find_paths(const PathGraph& graph, Span<const Vec3d> nodes, std::vector<PathStart> starts,
                const PathConstants& constants, Paths& paths, OpContext& ctx) {
  ctx.begin_phase("Finding paths", nodes.size);
  Search search(graph, nodes, constants, paths);
  for (const PathStart& start : starts) search.start(start, {0, 0, 1});
  search.run(ctx);
}

void reach_islands(const PathGraph& graph, Span<const Vec3d> nodes, const PathConstants& constants,
                   Paths& paths, OpContext& ctx) {
  ctx.begin_phase("Joining islands", 0);
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<Bridge> found = bridges(nodes, constants.most_gap_m, paths, ctx);
    if (found.empty()) return;
    Search search(graph, nodes, constants, paths);
    for (const Bridge& bridge : found) {
      const double cost = paths.cost[bridge.from] + search.step_cost(bridge.from, bridge.to);
      search.start({bridge.to, paths.root[bridge.from], cost}, paths.direction[bridge.from]);
    }
    search.run(ctx);
  }
}

}  // namespace pc
