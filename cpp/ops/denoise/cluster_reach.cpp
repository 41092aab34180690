#include "ops/denoise/cluster_reach.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/nth_smallest.h"
#include "core/parallel.h"
#include "ops/denoise/neighborhood_shapes.h"
#include "spatial/all_knn.h"

namespace pc {

namespace {

using kd_tree::Leaf;
using kd_tree::Node;

constexpr std::size_t kGrain = 4;         // leaves
constexpr std::size_t kMostInBall = 256;  // ties with the last neighbour; only many duplicates have more
constexpr double kUnknown = HUGE_VAL;     // of a point whose neighbours all have its position

/// Squared lengths of a point.
struct PointLengths {
  double second;  ///< s(p), to the second nearest point at another position; or kUnknown
  double ball;    ///< to the last of the k nearest others; or kUnknown
};

struct Lengths {
  BulkVector<PointLengths> of;     ///< by slot
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

/// The lengths of the neighbours of a point.
template <std::size_t kMost>
class Surroundings {
 public:
  explicit Surroundings(const ClusterOutlierParams& params)
      : params_(params), bounded_(params.ball_factor < kUnknown) {}

  /// Neighbours that are stored.
  std::size_t size() const { return std::max(seconds_, balls_); }
  /// Adds a neighbour if `counts`.
  void add(const PointLengths& lengths, bool counts) {
    second_[seconds_] = lengths.second;
    ball_[balls_] = lengths.ball;
    seconds_ += (counts & (second_[seconds_] != kUnknown)) ? 1 : 0;
    balls_ += (counts & (ball_[balls_] > 0) & (ball_[balls_] != kUnknown)) ? 1 : 0;
  }
  /// Adds a neighbour that counts, without its ball unless links are bounded by balls.
  void add_needed(const PointLengths& lengths) {
    if (bounded_) return add(lengths, true);
    second_[seconds_] = lengths.second;
    seconds_ += second_[seconds_] != kUnknown ? 1 : 0;
  }
  /// Squared reach of the point.
  double reach() {
    const auto squared = [](double length) { return length * length; };
    double longest = squared(params_.link_factor) * lower_quartile(second_.data(), seconds_);
    if (bounded_)
      longest = std::min(longest, squared(params_.ball_factor) * lower_quartile(ball_.data(), balls_));
    return std::clamp(longest, squared(params_.min_link_m), squared(params_.max_link_m));
  }

 private:
  const ClusterOutlierParams& params_;
  bool bounded_;
  std::array<double, kMost> second_, ball_;
  std::size_t seconds_ = 0, balls_ = 0;
};

/// Squared reach of a point from all points of a ball.
double reach_within(const Vec3d& p, std::uint64_t own, const KdTreeView& tree, const Lengths& lengths,
                    const ClusterOutlierParams& params) {
  Surroundings<kMostInBall + kd_tree::kLeafPoints> surroundings(params);
  const double squared = lengths.of[own].ball;
  if (squared == 0) return surroundings.reach();  // k others at the place of p have k others there too
  const auto may_hold = [&](const Node& node, std::uint32_t) {
    return kd_tree::least_squared_distance(p, node) <= squared;
  };
  tree.for_each_leaf(may_hold, [&](const Node& node) {
    const Leaf leaf = tree.leaf(node);
    for (std::uint32_t j = 0; j < leaf.count; ++j) {
      const bool inside = squared_distance(p, leaf.point(j)) <= squared;
      surroundings.add(lengths.of[node.begin + j], inside & (node.begin + j != own));
    }
    return surroundings.size() < kMostInBall;
  });
  return surroundings.reach();
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

/// A range of slots whose s and balls are known.
struct SlotRange {
  std::uint64_t begin, end;
};

/// Tells points whose reach is min_link_m from a few of their neighbours: most points, where links are bounded by balls.
class ShortestReach {
 public:
  explicit ShortestReach(const ClusterOutlierParams& params)
      : bounded_(params.ball_factor < kUnknown),
        factor_(params.ball_factor * params.ball_factor),
        squared_(params.min_link_m * params.min_link_m) {}

  double squared() const { return squared_; }
  /// Whether so many neighbours have a ball this short that the lower quartile of all is, too. `local`: the lengths of
  /// the range; neighbours from `end` on are not known yet.
  bool is_reach(Span<const std::int32_t> neighbors, std::int32_t end, const PointLengths* local) const {
    if (!bounded_) return false;
    std::size_t short_ones = 0;
    const std::size_t wanted = neighbors.size / 4 + 1;
    for (const std::int32_t neighbor : neighbors) {
      if (neighbor >= end) continue;
      const double ball = local[neighbor].ball;
      short_ones += (ball > 0) & (factor_ * ball <= squared_) ? 1 : 0;
      if (short_ones == wanted) return true;
    }
    return false;
  }

 private:
  bool bounded_;
  double factor_, squared_;
};

/// Sets the reach of those points of a leaf whose neighbours all lie below the end of the range, or decide without the
/// others. Returns a bit for each of the rest.
std::uint32_t reach_from_lists(const Node& node, const SlotRange& range, const NeighborLists& lists,
                               const Lengths& lengths, const ClusterOutlierParams& params,
                               BulkVector<double>& reach) {
  const auto end = static_cast<std::int32_t>(range.end - range.begin);
  const PointLengths* const local = lengths.of.data() + range.begin;
  const ShortestReach shortest(params);
  std::uint32_t open = 0;
  for (std::uint64_t slot = node.begin; slot < node.end; ++slot) {
    const Span<const std::int32_t> neighbors = lists.of(slot);
    if (shortest.is_reach(neighbors, end, local)) {
      reach[slot] = shortest.squared();
      continue;
    }
    bool measured = neighbors.size > 0;
    for (const std::int32_t neighbor : neighbors) measured &= neighbor < end;
    if (!measured) {
      open |= 1U << (slot - node.begin);
      continue;
    }
    Surroundings<2 * kMaxClusterPoints> surroundings(params);
    for (const std::int32_t neighbor : neighbors) surroundings.add_needed(local[neighbor]);
    reach[slot] = surroundings.reach();
  }
  return open;
}

/// Measures s range by range of slots, so that few neighbour lists are in memory. Points with a neighbour beyond the
/// end of their range stay open.
void measure_neighbors(const KdTree& tree, const ClusterOutlierParams& params, Lengths& lengths,
                       BulkVector<double>& reach, OpContext& ctx) {
  const std::uint32_t k = params.nb_neighbors;
  NeighborLists lists(k);
  const std::vector<std::size_t> ranges = tree.leaf_blocks(lists.most_points());
  const std::vector<std::size_t> blocks = tree.leaf_blocks(all_knn_block(k));
  ctx.begin_phase("Measuring neighbour distances", blocks.size() - 1 + tree.leaves().size);
  lists.reserve(std::min(lists.most_points(), tree.size()));
  const KdTreeView view = tree.view();
  std::size_t block = 0;
  for (std::size_t number = 0; number + 1 < ranges.size(); ++number) {
    const std::size_t first = ranges[number], last = ranges[number + 1], first_block = block;
    while (blocks[block] < last) ++block;
    const SlotRange range{view.nodes[tree.leaves()[first]].begin, view.nodes[tree.leaves()[last - 1]].end};
    lists.begin(range.begin);
    const Span<const std::size_t> inner{blocks.data() + first_block, block - first_block + 1};
    all_knn(tree, lists.search(), inner, ctx, [&](std::uint32_t leaf, const LeafKnn& neighbors) {
      const Node& node = view.nodes[leaf];
      for (std::uint64_t slot = node.begin; slot < node.end; ++slot) {
        const auto i = static_cast<std::uint32_t>(slot - node.begin);
        const Span<const double> squared = neighbors.squared(i);
        lengths.of[slot] = {second_elsewhere({squared.data, std::min<std::size_t>(squared.size, k)}),
                            squared.size < k ? kUnknown : squared[k - 1]};
        lists.put(slot, neighbors.slots(i));
      }
    });
    parallel_for(ctx, last - first, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = first + begin; i < first + end; ++i)
        lengths.open[i] =
            reach_from_lists(view.nodes[tree.leaves()[i]], range, lists, lengths, params, reach);
    });
  }
}

/// Sets the reach of the open points and of the leaves.
void measure_open(const KdTree& tree, const ClusterOutlierParams& params, const Lengths& lengths,
                  ClusterReach& reach, OpContext& ctx) {
  ctx.begin_phase("Measuring the spacing around points", tree.leaves().size);
  const KdTreeView view = tree.view();
  parallel_for(ctx, tree.leaves().size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Node& node = view.nodes[tree.leaves()[i]];
      const Leaf leaf = view.leaf(node);
      double& greatest = reach.node[tree.leaves()[i]];
      greatest = 0;
      for (std::uint32_t j = 0; j < leaf.count; ++j) {
        double& own = reach.point[node.begin + j];
        if ((lengths.open[i] >> j & 1) != 0)
          own = reach_within(leaf.point(j), node.begin + j, view, lengths, params);
        greatest = std::max(greatest, own);
      }
    }
  });
}

}  // namespace

std::vector<std::uint32_t> parents_first(const KdTree& tree, OpContext& ctx) {
  constexpr std::size_t kPollEvery = 1 << 18;
  std::vector<std::uint32_t> inner;
  const KdTreeView view = tree.view();
  inner.reserve(tree.node_count() / 2 + 1);
  if (view.nodes[0].left != 0) inner.push_back(0);
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    const std::uint32_t left = view.nodes[inner[i]].left;
    for (const std::uint32_t child : {left, left + 1})
      if (view.nodes[child].left != 0) inner.push_back(child);
  }
  return inner;
}

ClusterReach measure_cluster_reach(const KdTree& tree, const ClusterOutlierParams& given, OpContext& ctx) {
  const NeighborhoodShapes shapes = neighborhood_shapes(tree, given.nb_neighbors, ctx);
  ClusterOutlierParams params = given;
  if (shapes.thin_share > params.most_thin) {
    params.ball_factor = HUGE_VAL;
  } else {
    params.min_link_m = std::clamp(params.min_ball_link_m, params.min_link_m, params.max_link_m);
  }
  if (shapes.surface_spread <= params.most_uneven) {
    const double longest = std::max(params.min_link_m, params.surface_factor * shapes.surface_ball_m);
    params.max_link_m = std::min(params.max_link_m, longest);
  }
  ClusterReach reach{BulkVector<double>(tree.size()), BulkVector<double>(tree.node_count())};
  Lengths lengths{BulkVector<PointLengths>(tree.size()), BulkVector<std::uint32_t>(tree.leaves().size)};
  measure_neighbors(tree, params, lengths, reach.point, ctx);
  measure_open(tree, params, lengths, reach, ctx);
  const std::vector<std::uint32_t> inner = parents_first(tree, ctx);
  for (std::size_t i = inner.size(); i-- > 0;) {
    const std::uint32_t left = tree.view().nodes[inner[i]].left;
    reach.node[inner[i]] = std::max(reach.node[left], reach.node[left + 1]);
  }
  return reach;
}

}  // namespace pc
