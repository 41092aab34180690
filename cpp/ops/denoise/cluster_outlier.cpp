#include "ops/denoise/cluster_outlier.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/nth_smallest.h"
#include "core/parallel.h"
#include "ops/denoise/noise_labels.h"
#include "spatial/all_knn.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

using kd_tree::Leaf;
using kd_tree::Node;

constexpr std::size_t kGrain = 4;         // leaves
constexpr std::size_t kMostInBall = 256;  // ties with the last neighbour; only many duplicates have more
constexpr double kUnknown = HUGE_VAL;     // of a point whose neighbours all have its position

/// Squared lengths per point, by slot.
struct Lengths {
  BulkVector<double> second;       ///< s(p), to the second nearest point at another position; or kUnknown
  BulkVector<double> reach;        ///< to the last of the k nearest others; later reach(p)
  BulkVector<double> node_reach;   ///< largest reach of the points of each node
  BulkVector<std::uint32_t> open;  ///< per leaf a bit for each point whose reach is not known yet
};

/// The second smallest positive value of ascending squared distances, or the only one.
double second_elsewhere(Span<const double> ascending) {
  double first = kUnknown;
  for (const double squared : ascending) {
    if (!(squared > 0)) continue;
    if (first != kUnknown) return squared;
    first = squared;
  }
  return first;
}

/// The lower quartile; kUnknown if there are no values.
double lower_quartile(double* values, std::size_t count) {
  if (count == 0) return kUnknown;
  return nth_smallest(values, count, count / 4);
}

/// Squared local spacing of a point from all points of a ball; kUnknown if none of them has an s.
double spacing_within(const Vec3d& p, std::uint64_t own, double squared, const KdTreeView& tree,
                      const Lengths& lengths) {
  if (squared == 0) return kUnknown;  // k others at the place of p have k others there too: none has an s
  std::array<double, kMostInBall + kd_tree::kLeafPoints> known;
  std::size_t count = 0;
  const auto may_hold = [&](const Node& node, std::uint32_t) {
    return kd_tree::least_squared_distance(p, node) <= squared;
  };
  tree.for_each_leaf(may_hold, [&](const Node& node) {
    const Leaf leaf = tree.leaf(node);
    for (std::uint32_t j = 0; j < leaf.count; ++j) {
      const double second = lengths.second[node.begin + j];
      const bool inside = squared_distance(p, leaf.point(j)) <= squared;
      known[count] = second;
      count += (inside & (node.begin + j != own) & (second != kUnknown)) ? 1 : 0;
    }
    return count < kMostInBall;
  });
  return lower_quartile(known.data(), count);
}

/// Neighbours of the points of a range of slots, kept while s is measured for the range. They are stored relative to
/// the first slot of the range.
class NeighborLists {
 public:
  explicit NeighborLists(std::uint32_t k) : k_(k), width_(k + kMostTied) {}

  /// What all_knn finds: others as far away as the k-th neighbour count too.
  LeafKnnParams search() const { return {k_, kMostTied, KnnColumns::kSquaredAndSlots}; }
  /// Most points of a range: 17 MB of lists.
  std::uint64_t most_points() const { return (std::uint64_t{1} << 22) / width_; }

  void begin(std::uint64_t first_slot) { first_slot_ = first_slot; }
  /// Stores the neighbours that count. A full list may lack some.
  void put(std::uint64_t slot, Span<const std::uint64_t> slots) {
    const bool is_known = slots.size >= k_ && slots.size < width_;
    count_[slot - first_slot_] = is_known ? static_cast<std::uint32_t>(slots.size) : 0;
    if (!is_known) return;
    std::int32_t* const to = relative_.data() + (slot - first_slot_) * width_;
    for (std::size_t j = 0; j < slots.size; ++j) {
      const auto relative = static_cast<std::int64_t>(slots[j] - first_slot_);
      const bool fits = relative == static_cast<std::int32_t>(relative);
      to[j] = fits ? static_cast<std::int32_t>(relative) : std::numeric_limits<std::int32_t>::max();
    }
  }
  /// Slots relative to the first slot of the range; empty if it is not known which neighbours count. The greatest
  /// number stands for any slot that is too far away.
  Span<const std::int32_t> of(std::uint64_t slot) const {
    return {relative_.data() + (slot - first_slot_) * width_, count_[slot - first_slot_]};
  }
  void reserve(std::uint64_t points) {
    relative_.resize(points * width_);
    count_.resize(points);
  }

 private:
  static constexpr std::uint32_t kMostTied = 4;
  std::uint32_t k_, width_;
  std::uint64_t first_slot_ = 0;
  BulkVector<std::int32_t> relative_;
  BulkVector<std::uint32_t> count_;
};

/// Reach of a point from its local spacing, both squared.
double reach_of(double spacing, const ClusterOutlierParams& params) {
  const auto squared = [](double length) { return length * length; };
  return std::clamp(squared(params.link_factor) * spacing, squared(params.min_link_m),
                    squared(params.max_link_m));
}

/// Sets the reach of those points of a leaf whose neighbours all lie below the end of the range; the others stay open.
void reach_from_lists(const Node& node, std::uint64_t range_begin, std::uint64_t range_end,
                      const NeighborLists& lists, const ClusterOutlierParams& params, Lengths& lengths,
                      std::uint32_t& open) {
  std::array<double, 2 * kMaxClusterPoints> known;
  const double* const second = lengths.second.data() + range_begin;
  const auto end = static_cast<std::int32_t>(range_end - range_begin);
  open = 0;
  for (std::uint64_t slot = node.begin; slot < node.end; ++slot) {
    const Span<const std::int32_t> neighbors = lists.of(slot);
    bool measured = neighbors.size > 0;
    for (const std::int32_t neighbor : neighbors) measured &= neighbor < end;
    if (!measured) {
      open |= 1U << (slot - node.begin);
      continue;
    }
    std::size_t count = 0;
    for (const std::int32_t neighbor : neighbors) {
      known[count] = second[neighbor];
      count += known[count] != kUnknown ? 1 : 0;
    }
    lengths.reach[slot] = reach_of(lower_quartile(known.data(), count), params);
  }
}

/// Measures s range by range of slots, so that few neighbour lists are in memory. Points with a neighbour beyond the
/// end of their range stay open.
void measure_neighbors(const KdTree& tree, const ClusterOutlierParams& params, Lengths& lengths,
                       OpContext& ctx) {
  const std::uint32_t k = params.nb_neighbors;
  NeighborLists lists(k);
  const std::vector<std::size_t> ranges = tree.leaf_blocks(lists.most_points());
  const std::vector<std::size_t> blocks = tree.leaf_blocks(all_knn_block(k));
  ctx.begin_phase("Measuring neighbour distances", blocks.size() - 1 + tree.leaves().size);
  lists.reserve(std::min(lists.most_points(), tree.size()));
  const KdTreeView view = tree.view();
  std::size_t block = 0;
  for (std::size_t range = 0; range + 1 < ranges.size(); ++range) {
    const std::size_t first = ranges[range], last = ranges[range + 1], first_block = block;
    while (blocks[block] < last) ++block;
    const std::uint64_t range_begin = view.nodes[tree.leaves()[first]].begin;
    const std::uint64_t range_end = view.nodes[tree.leaves()[last - 1]].end;
    lists.begin(range_begin);
    const Span<const std::size_t> inner{blocks.data() + first_block, block - first_block + 1};
    all_knn(tree, lists.search(), inner, ctx, [&](std::uint32_t number, const LeafKnn& neighbors) {
      const Node& node = view.nodes[number];
      for (std::uint64_t slot = node.begin; slot < node.end; ++slot) {
        const auto i = static_cast<std::uint32_t>(slot - node.begin);
        const Span<const double> squared = neighbors.squared(i);
        lengths.second[slot] = second_elsewhere({squared.data, std::min<std::size_t>(squared.size, k)});
        lengths.reach[slot] = squared.size < k ? kUnknown : squared[k - 1];
        lists.put(slot, neighbors.slots(i));
      }
    });
    parallel_for(ctx, last - first, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = first + begin; i < first + end; ++i)
        reach_from_lists(view.nodes[tree.leaves()[i]], range_begin, range_end, lists, params, lengths,
                         lengths.open[i]);
    });
  }
}

/// Sets the reach of the open points and of the leaves.
void measure_reach(const KdTree& tree, const ClusterOutlierParams& params, Lengths& lengths, OpContext& ctx) {
  ctx.begin_phase("Measuring the spacing around points", tree.leaves().size);
  const KdTreeView view = tree.view();
  parallel_for(ctx, tree.leaves().size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Node& node = view.nodes[tree.leaves()[i]];
      const Leaf leaf = view.leaf(node);
      double& greatest = lengths.node_reach[tree.leaves()[i]];
      greatest = 0;
      for (std::uint32_t j = 0; j < leaf.count; ++j) {
        double& reach = lengths.reach[node.begin + j];
        if ((lengths.open[i] >> j & 1) != 0)
          reach = reach_of(spacing_within(leaf.point(j), node.begin + j, reach, view, lengths), params);
        greatest = std::max(greatest, reach);
      }
    }
  });
}

/// Sets the reach of inner nodes to the maximum of their children, whose numbers may be lower or higher.
void enclose_reach(const KdTreeView& tree, Lengths& lengths, OpContext& ctx) {
  constexpr std::size_t kPollEvery = 1 << 18;
  const std::size_t count = lengths.node_reach.size();
  BulkVector<std::uint32_t> order(count);  // parents before their children
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

/// The points of a cluster, as many as are wanted at most.
class Cluster {
 public:
  /// Collects the cluster of a slot's point. Visits no more points than needed.
  Cluster(const Vec3d& p, std::uint64_t slot, std::size_t wanted, const KdTreeView& tree,
          const Lengths& lengths) {
    members_[count_++] = {p, slot};
    for (std::size_t next = 0; next < count_ && count_ < wanted; ++next) {
      const Member from = members_[next];
      const double reach = lengths.reach[from.slot];
      const auto may_hold = [&](const Node& node, std::uint32_t number) {
        return kd_tree::least_squared_distance(from.p, node) <= std::min(reach, lengths.node_reach[number]);
      };
      tree.for_each_leaf(may_hold, [&](const Node& node) {
        const Leaf leaf = tree.leaf(node);
        for (std::uint32_t j = 0; j < leaf.count && count_ < wanted; ++j) {
          const std::uint64_t other = node.begin + j;
          const Vec3d q = leaf.point(j);
          if (squared_distance(from.p, q) > std::min(reach, lengths.reach[other])) continue;
          if (!has(other)) members_[count_++] = {q, other};
        }
        return count_ < wanted;
      });
    }
  }

  std::size_t size() const { return count_; }

  /// True if another cluster has a point within `gap_factor` times the extent, and this one's points are not more
  /// scattered than links reach there. Needs the whole cluster.
  bool has_company(double gap_factor, const KdTreeView& tree, const Lengths& lengths) const {
    const auto [closest, extent] = squared_lengths();
    if (!(extent > 0)) return false;  // only points of the cluster are at its place
    Company company{*this, gap_factor * gap_factor * extent, kd_tree::kNoRow, 0};
    for (std::size_t i = 0; i < count_; ++i) tree.find_nearest(members_[i].p, kd_tree::kNoRow, company);
    return company.row != kd_tree::kNoRow && closest <= lengths.reach[company.slot];
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

/// Labels the clean points of a leaf, each set of connected ones at once.
void label_leaf(const Node& node, const ClusterOutlierParams& params, const KdTreeView& tree,
                const Lengths& lengths, Span<std::uint8_t> labels) {
  const Leaf leaf = tree.leaf(node);
  std::uint32_t seen = 0;
  for (std::uint32_t i = 0; i < leaf.count; ++i) {
    if ((seen >> i & 1) != 0) continue;
    const std::uint32_t connected = connected_in_leaf(leaf, i, lengths.reach.data() + node.begin);
    seen |= connected;
    if (static_cast<std::uint32_t>(std::popcount(connected)) < params.cluster_points) {
      const Cluster cluster(leaf.point(i), node.begin + i, params.cluster_points, tree, lengths);
      if (cluster.size() < params.cluster_points && !cluster.has_company(params.gap_factor, tree, lengths))
        continue;
    }
    for (std::uint32_t j = i; j < leaf.count; ++j)
      if ((connected >> j & 1) != 0) labels[leaf.row[j]] = kClean;
  }
}

void check(const ClusterOutlierParams& params) {
  require(params.nb_neighbors >= 2 && params.nb_neighbors <= kMaxClusterPoints,
          "nb_neighbors must be 2 to 64");
  require(params.cluster_points >= 1 && params.cluster_points <= kMaxClusterPoints,
          "cluster_points must be 1 to 64");
  require(std::isfinite(params.link_factor) && params.link_factor > 0,
          "link_factor must be finite and above 0");
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
  Lengths lengths{BulkVector<double>(tree.size()), BulkVector<double>(tree.size()),
                  BulkVector<double>(tree.node_count()), BulkVector<std::uint32_t>(tree.leaves().size)};
  measure_neighbors(tree, params, lengths, ctx);
  measure_reach(tree, params, lengths, ctx);
  enclose_reach(view, lengths, ctx);
  ctx.begin_phase("Linking points", tree.leaves().size);
  parallel_for(ctx, tree.leaves().size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      label_leaf(view.nodes[tree.leaves()[i]], params, view, lengths, labels);
  });
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
