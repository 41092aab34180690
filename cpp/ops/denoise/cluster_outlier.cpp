#include "ops/denoise/cluster_outlier.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "ops/denoise/noise_labels.h"
#include "spatial/all_knn.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

using kd_tree::Leaf;
using kd_tree::Node;

constexpr std::size_t kGrain = 4;         // leaves
constexpr std::size_t kMostInBall = 256;  // ties with the last neighbour; only heaps of duplicates have more
constexpr double kUnknown = HUGE_VAL;     // a point whose neighbours all lie in its own place

/// Squared lengths of the points in the order of the tree.
struct Lengths {
  BulkVector<double> second;  ///< to the second nearest point elsewhere; kUnknown
  BulkVector<double> reach;   ///< first to the last of the nearest others, then how far a point may be linked
  BulkVector<double> node_reach;
};

/// The second smallest above zero of ascending squared distances, or the only one.
double second_elsewhere(Span<const double> ascending) {
  double first = kUnknown;
  for (const double squared : ascending) {
    if (!(squared > 0)) continue;
    if (first != kUnknown) return squared;
    first = squared;
  }
  return first;
}

void measure_neighbors(const KdTree& tree, std::uint32_t k, Lengths& lengths, OpContext& ctx) {
  const std::vector<std::size_t> blocks = tree.leaf_blocks(all_knn_block(k));
  ctx.begin_phase("Measuring neighbour distances", blocks.size() - 1);
  const KdTreeView view = tree.view();
  all_knn(tree, k, {blocks.data(), blocks.size()}, ctx, [&](std::uint32_t number, const LeafKnn& neighbors) {
    const Node& node = view.nodes[number];
    for (std::uint64_t slot = node.begin; slot < node.end; ++slot) {
      const Span<const double> squared = neighbors.squared(static_cast<std::uint32_t>(slot - node.begin));
      lengths.second[slot] = second_elsewhere(squared);
      lengths.reach[slot] = squared.size < k ? kUnknown : squared[k - 1];
    }
  });
}

/// The lower quartile of what the points of a ball know, squared; kUnknown when none knows anything.
double spacing_within(const Vec3d& p, std::uint64_t own, double squared, const KdTreeView& tree,
                      const Lengths& lengths) {
  std::array<double, kMostInBall + kd_tree::kLeafPoints> known;
  std::size_t count = 0;
  const auto may_hold = [&](const Node& node, std::uint32_t) {
    return kd_tree::least_squared_distance(p, node) <= squared;
  };
  tree.for_each_leaf(may_hold, [&](const Node& node) {
    const Leaf leaf = tree.leaf(node);
    for (std::uint32_t j = 0; j < leaf.count; ++j) {
      const double second = lengths.second[node.begin + j];
      const bool inside = squared_distance(p, {leaf.x[j], leaf.y[j], leaf.z[j]}) <= squared;
      known[count] = second;
      count += (inside & (node.begin + j != own) & (second != kUnknown)) ? 1 : 0;
    }
    return count < kMostInBall;
  });
  if (count == 0) return kUnknown;
  const auto quartile = known.begin() + static_cast<std::ptrdiff_t>(count / 4);
  std::nth_element(known.begin(), quartile, known.begin() + static_cast<std::ptrdiff_t>(count));
  return *quartile;
}

void measure_reach(const KdTree& tree, const ClusterOutlierParams& params, Lengths& lengths, OpContext& ctx) {
  ctx.begin_phase("Measuring the spacing round points", tree.leaves().size);
  const KdTreeView view = tree.view();
  const double factor = params.link_factor * params.link_factor, most = params.max_link_m * params.max_link_m;
  parallel_for(ctx, tree.leaves().size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Node& node = view.nodes[tree.leaves()[i]];
      const Leaf leaf = view.leaf(node);
      double& greatest = lengths.node_reach[tree.leaves()[i]];
      greatest = 0;
      for (std::uint32_t j = 0; j < leaf.count; ++j) {
        double& reach = lengths.reach[node.begin + j];  // of its neighbours until here
        reach = std::min(most, factor * spacing_within({leaf.x[j], leaf.y[j], leaf.z[j]}, node.begin + j,
                                                       reach, view, lengths));
        greatest = std::max(greatest, reach);
      }
    }
  });
}

/// A parent's bound is that of its children; they may stand before or behind it.
void enclose_reach(const KdTreeView& tree, Lengths& lengths, OpContext& ctx) {
  constexpr std::size_t kPollEvery = 1 << 18;
  const std::size_t count = lengths.node_reach.size();
  BulkVector<std::uint32_t> order(count);  // a parent before its children
  order[0] = 0;
  for (std::size_t i = 0, next = 1; i < count; ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    const std::uint32_t left = tree.nodes[order[i]].left;
    if (left == 0) continue;
    order[next++] = left;
    order[next++] = left + 1;
  }
  for (std::size_t i = count; i-- > 0;) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    const std::uint32_t left = tree.nodes[order[i]].left;
    if (left != 0)
      lengths.node_reach[order[i]] = std::max(lengths.node_reach[left], lengths.node_reach[left + 1]);
  }
}

struct Member {
  Vec3d p;
  std::uint64_t slot;
};

/// Do `wanted` points hang together with that of a slot? Looks at no more of them than that.
bool in_cluster(const Vec3d& p, std::uint64_t slot, std::size_t wanted, const KdTreeView& tree,
                const Lengths& lengths) {
  std::array<Member, kMaxClusterPoints> members;
  std::size_t count = 0;
  members[count++] = {p, slot};
  for (std::size_t next = 0; next < count && count < wanted; ++next) {
    const Member from = members[next];
    const double reach = lengths.reach[from.slot];
    const auto may_hold = [&](const Node& node, std::uint32_t number) {
      return kd_tree::least_squared_distance(from.p, node) <= std::min(reach, lengths.node_reach[number]);
    };
    tree.for_each_leaf(may_hold, [&](const Node& node) {
      const Leaf leaf = tree.leaf(node);
      for (std::uint32_t j = 0; j < leaf.count && count < wanted; ++j) {
        const std::uint64_t other = node.begin + j;
        const Vec3d q{leaf.x[j], leaf.y[j], leaf.z[j]};
        if (squared_distance(from.p, q) > std::min(reach, lengths.reach[other])) continue;
        const bool known = std::any_of(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(count),
                                       [&](const Member& member) { return member.slot == other; });
        if (!known) members[count++] = {q, other};
      }
      return count < wanted;
    });
  }
  return count >= wanted;
}

/// Most points are linked to enough of their own leaf.
bool linked_in_leaf(const Leaf& leaf, std::uint32_t i, std::size_t wanted, const double* reach) {
  const Vec3d p{leaf.x[i], leaf.y[i], leaf.z[i]};
  std::size_t linked = 0;  // itself is one
  for (std::uint32_t j = 0; j < leaf.count; ++j) {
    const double squared = squared_distance(p, {leaf.x[j], leaf.y[j], leaf.z[j]});
    linked += squared <= (reach[i] < reach[j] ? reach[i] : reach[j]) ? 1 : 0;
  }
  return linked >= wanted;
}

void check(const ClusterOutlierParams& params) {
  require(params.nb_neighbors >= 2 && params.nb_neighbors <= kMaxClusterPoints,
          "nb_neighbors must be 2 to 64");
  require(params.cluster_points >= 1 && params.cluster_points <= kMaxClusterPoints,
          "cluster_points must be 1 to 64");
  require(std::isfinite(params.link_factor) && params.link_factor > 0,
          "link_factor must be finite and above 0");
  require(std::isfinite(params.max_link_m) && params.max_link_m > 0, "max_link_m must be finite and above 0");
}

}  // namespace

NoiseResult cluster_outlier(HitPoints points, const ClusterOutlierParams& params, OpContext& ctx) {
  check(params);
  NoiseResult result = all_noise(points, ctx);
  ctx.begin_phase("Sorting points", 0);
  const KdTree tree(points.xyz(), ctx);
  if (tree.size() > 0) {
    const KdTreeView view = tree.view();
    Lengths lengths{BulkVector<double>(tree.size()), BulkVector<double>(tree.size()),
                    BulkVector<double>(tree.node_count())};
    measure_neighbors(tree, params.nb_neighbors, lengths, ctx);
    measure_reach(tree, params, lengths, ctx);
    enclose_reach(view, lengths, ctx);
    ctx.begin_phase("Linking points", tree.leaves().size);
    const auto labels = result.noise_class.view();
    parallel_for(ctx, tree.leaves().size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const Node& node = view.nodes[tree.leaves()[i]];
        const Leaf leaf = view.leaf(node);
        for (std::uint32_t j = 0; j < leaf.count; ++j) {
          const bool clean =
              linked_in_leaf(leaf, j, params.cluster_points, lengths.reach.data() + node.begin) ||
              in_cluster({leaf.x[j], leaf.y[j], leaf.z[j]}, node.begin + j, params.cluster_points, view,
                         lengths);
          if (clean) labels[leaf.row[j]] = kClean;
        }
      }
    });
  }
  count_noise(result, tree.size(), ctx);
  return result;
}

}  // namespace pc
