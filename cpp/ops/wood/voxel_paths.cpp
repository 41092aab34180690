#include "ops/wood/voxel_paths.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "core/parallel.h"
#include "core/polled_sort.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kScatterCost = 4;
constexpr double kFloorCell_m = 1, kFloorRise = 0.4, kMostStart_m = 2;
constexpr std::size_t kMostFloorCells = 1024;  // along an axis
constexpr double kFirstGap = 16, kMostGap_m = 5;
constexpr std::size_t kPoll = 4096;

struct Step {
  double cost;
  std::uint32_t node, from;
};
bool sooner(const Step& a, const Step& b) {
  if (a.cost != b.cost) return a.cost < b.cost;
  return a.node != b.node ? a.node < b.node : a.from < b.from;
}

/// The steps that are open, the soonest first: a heap with four children a step, which share a line of the cache.
class OpenSteps {
 public:
  bool empty() const { return heap_.empty(); }
  void push(const Step& step) {
    std::size_t at = heap_.size();
    heap_.push_back(step);
    for (; at > 0 && sooner(step, heap_[(at - 1) / kChildren]); at = (at - 1) / kChildren)
      heap_[at] = heap_[(at - 1) / kChildren];
    heap_[at] = step;
  }
  Step pop() {
    const Step first = heap_[0], last = heap_.back();
    const std::size_t count = heap_.size() - 1;
    heap_.resize(count);
    std::size_t at = 0;
    for (std::size_t child = 1; child < count; child = kChildren * at + 1) {
      std::size_t best = child;
      for (std::size_t other = child + 1; other < std::min(count, child + kChildren); ++other)
        if (sooner(heap_[other], heap_[best])) best = other;
      if (!sooner(heap_[best], last)) break;
      heap_[at] = heap_[best];
      at = best;
    }
    if (count > 0) heap_[at] = last;
    return first;
  }

 private:
  static constexpr std::size_t kChildren = 4;
  BulkVector<Step> heap_;
};

/// Heights of the lowest voxels of square cells, made to rise by at most kFloorRise.
class Floor {
 public:
  Floor(Span<const Vec3d> places, OpContext& ctx) {
    Box3d box;
    for (const Vec3d& p : places) box.add(p);
    const double extent = std::max(box.max.x - box.min.x, box.max.y - box.min.y);
    min_ = box.min;
    cell_ = std::max(kFloorCell_m, extent / static_cast<double>(kMostFloorCells - 1));
    nx_ = along(box.max.x - min_.x) + 1;
    ny_ = along(box.max.y - min_.y) + 1;
    z_.resize(nx_ * ny_);
    std::fill(z_.begin(), z_.end(), kInfinite);
    for (const Vec3d& p : places) {
      double& z = z_[cell_of(p)];
      z = std::min(z, p.z);
    }
    spread(ctx);
  }
  double below(const Vec3d& p) const { return z_[cell_of(p)]; }

 private:
  std::size_t along(double distance) const { return static_cast<std::size_t>(distance / cell_); }
  std::size_t cell_of(const Vec3d& p) const { return along(p.y - min_.y) * nx_ + along(p.x - min_.x); }
  /// Two passes of a chamfer over straight and diagonal neighbours, until nothing changes (once for most).
  void spread(OpContext& ctx) {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t k = 0; k < z_.size(); ++k) changed = polled_relax(k, ctx) || changed;
      for (std::size_t k = z_.size(); k-- > 0;) changed = polled_relax(k, ctx) || changed;
    }
  }
  bool polled_relax(std::size_t k, OpContext& ctx) {
    if (k % kPoll == 0) ctx.checkpoint();
    return relax(k % nx_, k / nx_);
  }
  bool relax(std::size_t x, std::size_t y) {
    double least = z_[y * nx_ + x];
    for (std::size_t v = y > 0 ? y - 1 : 0; v <= std::min(ny_ - 1, y + 1); ++v)
      for (std::size_t u = x > 0 ? x - 1 : 0; u <= std::min(nx_ - 1, x + 1); ++u) {
        const double step = u != x && v != y ? std::sqrt(2.0) : 1.0;
        if (u != x || v != y) least = std::min(least, z_[v * nx_ + u] + kFloorRise * cell_ * step);
      }
    const bool lower = least < z_[y * nx_ + x];
    z_[y * nx_ + x] = least;
    return lower;
  }

  Vec3d min_{};
  double cell_ = 1;
  std::size_t nx_ = 0, ny_ = 0;
  BulkVector<double> z_;
};

class Search {
 public:
  Search(Span<const Vec3d> places, const PathGraph& graph, VoxelPaths& paths, OpContext& ctx)
      : places_(places), graph_(graph), paths_(paths), ctx_(ctx), cost_(places.size) {
    std::fill(cost_.begin(), cost_.end(), kInfinite);
    paths.parent.resize(places.size);
    std::fill(paths.parent.begin(), paths.parent.end(), kNoParent);
    paths.length.resize(places.size);
    paths.order.reserve(places.size);
    settled_.resize(places.size);
  }

  void offer(double cost, std::uint32_t node, std::uint32_t from) {
    if (settled_[node] || !(cost < cost_[node])) return;
    cost_[node] = cost;
    open_.push({cost, node, from});
  }
  void run() {
    for (std::size_t taken = 0; !open_.empty(); ++taken) {
      if (taken % kPoll == 0) ctx_.checkpoint();
      const Step step = open_.pop();
      if (!settled_[step.node]) settle(step);
    }
  }
  bool is_settled(std::size_t node) const { return settled_[node] != 0; }
  double cost(std::size_t node) const { return cost_[node]; }
  double step_cost(double squared, std::uint32_t a, std::uint32_t b) const {
    const double scatter = std::max(graph_.scatter[a], graph_.scatter[b]);
    return squared * (1 + kScatterCost * scatter);
  }

 private:
  void settle(const Step& step) {
    const std::uint32_t node = step.node;
    settled_[node] = 1;
    paths_.order.push_back(node);
    paths_.parent[node] = step.from;
    if (step.from != kNoParent)
      paths_.length[node] =
          paths_.length[step.from] +
          static_cast<float>(std::sqrt(squared_distance(places_[node], places_[step.from])));
    ctx_.advance(1);
    for (const std::uint32_t next : graph_.of(node))
      if (!settled_[next])
        offer(step.cost + step_cost(squared_distance(places_[node], places_[next]), node, next), next, node);
  }

  Span<const Vec3d> places_;
  const PathGraph& graph_;
  VoxelPaths& paths_;
  OpContext& ctx_;
  BulkVector<double> cost_;
  BulkVector<std::uint8_t> settled_;
  OpenSteps open_;
};

/// The part of the graph that each voxel without a path is in, named after its lowest number; kNoParent elsewhere.
BulkVector<std::uint32_t> islands_of(const Search& search, const PathGraph& graph, OpContext& ctx) {
  BulkVector<std::uint32_t> island(graph.size());
  std::fill(island.begin(), island.end(), kNoParent);
  BulkVector<std::uint32_t> stack;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    if (search.is_settled(i) || island[i] != kNoParent) continue;
    const auto name = static_cast<std::uint32_t>(i);
    island[i] = name;
    stack.push_back(name);
    for (std::size_t taken = 0; !stack.empty(); ++taken) {
      if (taken % kPoll == 0) ctx.checkpoint();
      const std::uint32_t node = stack.back();
      stack.resize(stack.size() - 1);
      for (const std::uint32_t next : graph.of(node)) {
        if (island[next] != kNoParent || search.is_settled(next)) continue;
        island[next] = name;
        stack.push_back(next);
      }
    }
  }
  return island;
}

struct Bridge {
  std::uint32_t island;
  double squared;
  std::uint32_t node, from;
};
bool shorter(const Bridge& a, const Bridge& b) {
  return std::tie(a.island, a.squared, a.node, a.from) < std::tie(b.island, b.squared, b.node, b.from);
}

/// Offers the shortest bridge of each island; false if none is left to bridge.
bool bridge(Search& search, Span<const Vec3d> places, const PathGraph& graph, double gap_m, OpContext& ctx) {
  const BulkVector<std::uint32_t> island = islands_of(search, graph, ctx);
  BulkVector<Vec3d> reached;
  BulkVector<std::uint32_t> node_of, lost;
  for (std::size_t i = 0; i < places.size; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    if (!search.is_settled(i)) {
      lost.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    reached.push_back(places[i]);
    node_of.push_back(static_cast<std::uint32_t>(i));
  }
  if (lost.empty()) return false;
  const KdTree tree(reached.view(), ctx);
  const KdTreeView view = tree.view();
  BulkVector<Bridge> bridges(lost.size());
  parallel_for(ctx, lost.size(), 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double squared = 0;
      std::uint64_t row = 0, slot = 0;
      const std::uint32_t found =
          view.knn_within(places[lost[i]], 1, gap_m * gap_m, ~std::uint64_t{0}, &squared, &row, &slot);
      bridges[i] = {island[lost[i]], found > 0 ? squared : kInfinite, lost[i], found > 0 ? node_of[row] : 0};
    }
  });
  polled_sort(bridges.begin(), bridges.end(), shorter, ctx);
  for (std::size_t i = 0; i < bridges.size(); ++i) {
    const Bridge& one = bridges[i];
    if ((i > 0 && bridges[i - 1].island == one.island) || one.squared == kInfinite) continue;
    search.offer(search.cost(one.from) + search.step_cost(one.squared, one.node, one.from), one.node,
                 one.from);
  }
  return true;
}

/// Starts the rest from the lowest voxel of each island.
void start_islands(Search& search, Span<const Vec3d> places, const PathGraph& graph, OpContext& ctx) {
  const BulkVector<std::uint32_t> island = islands_of(search, graph, ctx);
  BulkVector<std::uint32_t> lowest(places.size);
  std::fill(lowest.begin(), lowest.end(), kNoParent);
  for (std::size_t i = 0; i < places.size; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    if (island[i] == kNoParent) continue;
    std::uint32_t& low = lowest[island[i]];
    if (low == kNoParent || places[i].z < places[low].z) low = static_cast<std::uint32_t>(i);
  }
  for (const std::uint32_t node : lowest)
    if (node != kNoParent) search.offer(0, node, kNoParent);
}

}  // namespace

VoxelPaths voxel_paths(Span<const Vec3d> places, const PathGraph& graph, double voxel_m, OpContext& ctx) {
  VoxelPaths paths;
  if (places.empty()) return paths;
  ctx.begin_phase("Following paths", places.size);
  Search search(places, graph, paths, ctx);
  const Floor floor(places, ctx);
  for (std::size_t i = 0; i < places.size; ++i) {
    const double height = places[i].z - floor.below(places[i]);
    if (height <= kMostStart_m) search.offer(height * height, static_cast<std::uint32_t>(i), kNoParent);
  }
  search.run();
  for (double gap = kFirstGap * voxel_m;; gap *= 2) {
    if (!bridge(search, places, graph, std::min(gap, kMostGap_m), ctx)) break;
    search.run();
    if (gap >= kMostGap_m) break;
  }
  start_islands(search, places, graph, ctx);
  search.run();
  return paths;
}

}  // namespace pc
