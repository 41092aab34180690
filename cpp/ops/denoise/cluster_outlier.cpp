#include "ops/denoise/cluster_outlier.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "ops/denoise/cluster_reach.h"
#include "ops/denoise/noise_labels.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

using kd_tree::Leaf;
using kd_tree::Node;

constexpr std::size_t kGrain = 4;  // leaves

struct Member {
  Vec3d p;
  std::uint64_t slot;
};

/// The points of a cluster, as many as are wanted at most.
class Cluster {
 public:
  /// Collects the cluster of a slot's point. Visits no more points than needed.
  Cluster(const Vec3d& p, std::uint64_t slot, std::size_t wanted, const KdTreeView& tree,
          const ClusterReach& reach) {
    members_[count_++] = {p, slot};
    for (std::size_t next = 0; next < count_ && count_ < wanted; ++next) {
      const Member from = members_[next];
      const double own = reach.point[from.slot];
      const auto may_hold = [&](const Node& node, std::uint32_t number) {
        return kd_tree::least_squared_distance(from.p, node) <= std::min(own, reach.node[number]);
      };
      tree.for_each_leaf(may_hold, [&](const Node& node) {
        const Leaf leaf = tree.leaf(node);
        for (std::uint32_t j = 0; j < leaf.count && count_ < wanted; ++j) {
          const std::uint64_t other = node.begin + j;
          const Vec3d q = leaf.point(j);
          if (squared_distance(from.p, q) > std::min(own, reach.point[other])) continue;
          if (!has(other)) members_[count_++] = {q, other};
        }
        return count_ < wanted;
      });
    }
  }

  std::size_t size() const { return count_; }

  /// True if another cluster has a point within `gap_factor` times the extent, and this one's points are not more
  /// scattered than links reach there. Needs the whole cluster.
  bool has_company(double gap_factor, const KdTreeView& tree, const ClusterReach& reach) const {
    const auto [closest, extent] = squared_lengths();
    if (!(extent > 0)) return false;  // only points of the cluster are at its place
    Company company{*this, gap_factor * gap_factor * extent, kd_tree::kNoRow, 0};
    for (std::size_t i = 0; i < count_; ++i) tree.find_nearest(members_[i].p, kd_tree::kNoRow, company);
    return company.row != kd_tree::kNoRow && closest <= reach.point[company.slot];
  }

 private:
  bool has(std::uint64_t slot) const {
    return std::any_of(members_.begin(), members_.begin() + static_cast<std::ptrdiff_t>(count_),
                       [&](const Member& member) { return member.slot == slot; });
  }
  /// Squared distances of the closest two members at different positions, and of the farthest two.
  std::pair<double, double> squared_lengths() const {
    double least = HUGE_VAL, greatest = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double squared = squared_distance(members_[i].p, members_[j].p);
        if (squared > 0) least = std::min(least, squared);
        greatest = std::max(greatest, squared);
      }
    }
    return {least, greatest};
  }
  /// The nearest point outside (lowest row of equally near ones), as KdTreeView::find_nearest fills it.
  struct Company {
    const Cluster& cluster;
    double squared;
    std::uint64_t row, slot;

    bool wants(double at, std::uint64_t other) const {
      return at < squared || (at == squared && other < row);
    }
    void take(double at, std::uint64_t other, std::uint64_t place) {
      if (cluster.has(place)) return;
      squared = at;
      row = other;
      slot = place;
    }
  };

  std::array<Member, kMaxClusterPoints> members_;
  std::size_t count_ = 0;
};

/// A bit for each point of a leaf that is linked to point `i`, itself included.
std::uint32_t links_of(const Leaf& leaf, std::uint32_t i, const double* reach) {
  const Vec3d p = leaf.point(i);
  std::uint32_t links = 0;
  for (std::uint32_t j = 0; j < leaf.count; ++j) {
    const bool linked = squared_distance(p, leaf.point(j)) <= (reach[i] < reach[j] ? reach[i] : reach[j]);
    links |= (linked ? 1U : 0U) << j;
  }
  return links;
}

/// The points of a leaf that links within the leaf connect to point `i`. Most leaves are connected as a whole.
std::uint32_t connected_in_leaf(const Leaf& leaf, std::uint32_t i, const double* reach) {
  std::uint32_t found = 1U << i;
  for (std::uint32_t open = found; open != 0;) {
    const auto next = static_cast<std::uint32_t>(std::countr_zero(open));
    const std::uint32_t links = links_of(leaf, next, reach);
    open = (open | (links & ~found)) & ~(1U << next);
    found |= links;
  }
  return found;
}

/// Calls each(members, first) for the connected sets of those points of a leaf that `counts` accepts: a bit per
/// member, and the lowest member.
template <class Counts, class Each>
void for_each_set(const Leaf& leaf, const double* reach, const Counts& counts, const Each& each) {
  std::uint32_t seen = 0;
  for (std::uint32_t i = 0; i < leaf.count; ++i) {
    if ((seen >> i & 1) != 0 || !counts(leaf.row[i])) continue;
    const std::uint32_t connected = connected_in_leaf(leaf, i, reach);
    seen |= connected;
    each(connected, i);
  }
}

void label(const Leaf& leaf, std::uint32_t members, Span<std::uint8_t> labels) {
  for (std::uint32_t j = 0; j < leaf.count; ++j)
    if ((members >> j & 1) != 0) labels[leaf.row[j]] = kClean;
}

/// Marks the points of a leaf that are in large clusters as clean.
void label_large(const Node& node, const ClusterOutlierParams& params, const KdTreeView& tree,
                 const ClusterReach& reach, Span<std::uint8_t> labels) {
  const Leaf leaf = tree.leaf(node);
  const auto any = [](std::uint64_t) { return true; };
  for_each_set(leaf, reach.point.data() + node.begin, any, [&](std::uint32_t members, std::uint32_t first) {
    const bool large =
        static_cast<std::uint32_t>(std::popcount(members)) >= params.cluster_points ||
        Cluster(leaf.point(first), node.begin + first, params.cluster_points, tree, reach).size() >=
            params.cluster_points;
    if (large) label(leaf, members, labels);
  });
}

/// The points of large clusters, for searches of the nearest.
class LargeClusters {
 public:
  LargeClusters(const KdTree& tree, Span<const std::uint8_t> labels, OpContext& ctx)
      : tree_(tree.view()), labels_(labels), holds_(tree.node_count()) {
    parallel_for(ctx, tree.leaves().size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const Leaf leaf = tree_.leaf(tree_.nodes[tree.leaves()[i]]);
        const auto is_clean = [&](std::uint64_t row) { return labels[row] == kClean; };
        holds_[tree.leaves()[i]] = std::any_of(leaf.row, leaf.row + leaf.count, is_clean) ? 1 : 0;
      }
    });
    const std::vector<std::uint32_t> inner = parents_first(tree, ctx);
    for (std::size_t i = inner.size(); i-- > 0;) {
      const std::uint32_t left = tree_.nodes[inner[i]].left;
      holds_[inner[i]] = holds_[left] | holds_[left + 1];
    }
  }

  bool empty() const { return holds_[0] == 0; }

  /// The reach of the nearest point; of equally near ones the shortest.
  double reach_at(const Vec3d& p, const ClusterReach& reach) const {
    double nearest = HUGE_VAL, found = HUGE_VAL;
    std::array<std::uint32_t, kd_tree::kMaxDepth> stack;
    std::size_t depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
      const std::uint32_t number = stack[--depth];
      const Node& node = tree_.nodes[number];
      if (holds_[number] == 0 || kd_tree::least_squared_distance(p, node) > nearest) continue;
      if (node.left != 0) {
        const bool left_first = kd_tree::least_squared_distance(p, tree_.nodes[node.left]) <
                                kd_tree::least_squared_distance(p, tree_.nodes[node.left + 1]);
        stack[depth++] = node.left + (left_first ? 1 : 0);
        stack[depth++] = node.left + (left_first ? 0 : 1);
        continue;
      }
      const Leaf leaf = tree_.leaf(node);
      for (std::uint32_t j = 0; j < leaf.count; ++j) {
        if (labels_[leaf.row[j]] != kClean) continue;
        const double squared = squared_distance(p, leaf.point(j)), its = reach.point[node.begin + j];
        if (squared < nearest || (squared == nearest && its < found)) found = its;
        nearest = std::min(nearest, squared);
      }
    }
    return found;
  }

 private:
  KdTreeView tree_;
  Span<const std::uint8_t> labels_;
  BulkVector<std::uint8_t> holds_;  ///< per node, 1 = has a point of a large cluster
};

/// Calls each(leaf, node) for the leaves.
template <class Each>
void for_each_leaf(const KdTree& tree, OpContext& ctx, const Each& each) {
  const KdTreeView view = tree.view();
  parallel_for(ctx, tree.leaves().size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) each(view.nodes[tree.leaves()[i]]);
  });
}

/// Bounds the reach of all points that are not in large clusters by that of the nearest one that is.
void bound_reach(const KdTree& tree, Span<const std::uint8_t> labels, ClusterReach& reach, OpContext& ctx) {
  const LargeClusters large(tree, labels, ctx);
  if (large.empty()) return;
  const KdTreeView view = tree.view();
  for_each_leaf(tree, ctx, [&](const Node& node) {
    const Leaf leaf = view.leaf(node);
    for (std::uint32_t j = 0; j < leaf.count; ++j) {
      double& own = reach.point[node.begin + j];
      if (labels[leaf.row[j]] != kClean) own = std::min(own, large.reach_at(leaf.point(j), reach));
    }
  });
}

/// Marks the points of a leaf that are in small clusters with company as clean. `large` are the labels of those in
/// large clusters.
void label_small(const Node& node, const ClusterOutlierParams& params, const KdTreeView& tree,
                 const ClusterReach& reach, Span<std::uint8_t> labels) {
  const Leaf leaf = tree.leaf(node);
  const auto is_open = [&](std::uint64_t row) { return labels[row] != kClean; };
  for_each_set(
      leaf, reach.point.data() + node.begin, is_open, [&](std::uint32_t members, std::uint32_t first) {
        const Cluster cluster(leaf.point(first), node.begin + first, params.cluster_points, tree, reach);
        if (cluster.has_company(params.gap_factor, tree, reach)) label(leaf, members, labels);
      });
}

void check(const ClusterOutlierParams& params) {
  require(params.nb_neighbors >= 2 && params.nb_neighbors <= kMaxClusterPoints,
          "nb_neighbors must be 2 to 64");
  require(params.cluster_points >= 1 && params.cluster_points <= kMaxClusterPoints,
          "cluster_points must be 1 to 64");
  require(std::isfinite(params.link_factor) && params.link_factor > 0,
          "link_factor must be finite and above 0");
  require(std::isfinite(params.ball_factor) && params.ball_factor > 0,
          "ball_factor must be finite and above 0");
  require(params.most_thin >= 0 && params.most_thin <= 1, "most_thin must be 0 to 1");
  require(std::isfinite(params.min_ball_link_m) && params.min_ball_link_m >= 0,
          "min_ball_link_m must be finite and at least 0");
  require(std::isfinite(params.most_uneven) && params.most_uneven >= 0,
          "most_uneven must be finite and at least 0");
  require(std::isfinite(params.surface_factor) && params.surface_factor > 0,
          "surface_factor must be finite and above 0");
  require(std::isfinite(params.max_link_m) && params.max_link_m > 0, "max_link_m must be finite and above 0");
  require(params.min_link_m >= 0 && params.min_link_m <= params.max_link_m,
          "min_link_m must be at least 0 and at most max_link_m");
  require(std::isfinite(params.gap_factor) && params.gap_factor >= 0,
          "gap_factor must be finite and at least 0");
}

}  // namespace

void label_clusters(const KdTree& tree, const ClusterOutlierParams& params, Span<std::uint8_t> labels,
                    OpContext& ctx) {
  check(params);
  if (tree.size() == 0) return;
  const KdTreeView view = tree.view();
  ClusterReach reach = measure_cluster_reach(tree, params, ctx);
  ctx.begin_phase("Linking points", 4 * tree.leaves().size);
  for_each_leaf(tree, ctx, [&](const Node& node) { label_large(node, params, view, reach, labels); });
  bound_reach(tree, labels, reach, ctx);
  for_each_leaf(tree, ctx, [&](const Node& node) { label_small(node, params, view, reach, labels); });
}

NoiseResult cluster_outlier(HitPoints points, const ClusterOutlierParams& params, OpContext& ctx) {
  check(params);
  NoiseResult result = all_noise(points, ctx);
  ctx.begin_phase("Sorting points", 0);
  const KdTree tree(points.xyz(), ctx);
  label_clusters(tree, params, result.noise_class.view(), ctx);
  count_noise(result, tree.size(), ctx);
  return result;
}

}  // namespace pc
