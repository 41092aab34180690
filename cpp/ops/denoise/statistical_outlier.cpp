#include "ops/denoise/statistical_outlier.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/denoise/noise_labels.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

using kd_tree::kLeafPoints;
using kd_tree::Leaf;
using kd_tree::Node;

constexpr std::size_t kGrain = 4;  // leaves; 128 points with 1000 neighbours each: 30 ms

/// The nearest neighbours so far of the points of one leaf: squared distances, ascending, `k` a point.
struct Neighbors {
  std::vector<double> nearest;
  std::array<double, kLeafPoints> worst;  ///< the last of each list: what a nearer point must beat
  std::size_t k;

  void clear(std::size_t points) {
    std::fill_n(nearest.begin(), points * k, HUGE_VAL);
    std::fill_n(worst.begin(), points, HUGE_VAL);
  }
  void offer(std::size_t point, double squared) {
    double* list = nearest.data() + point * k;
    std::size_t at = k - 1;
    if (k > 64) {
      at = static_cast<std::size_t>(std::upper_bound(list, list + k, squared) - list);
      std::copy_backward(list + at, list + k - 1, list + k);
    } else {
      for (; at > 0 && list[at - 1] > squared; --at) list[at] = list[at - 1];
    }
    list[at] = squared;
    worst[point] = list[k - 1];
  }
  double greatest(std::size_t points) const {
    return *std::max_element(worst.begin(), worst.begin() + points);
  }
};

/// Offers the points of a leaf to those of another (or to themselves) that may have use for them.
void offer_leaf(const Leaf& own, const Leaf& other, const Node& box, bool same, Neighbors& neighbors) {
  std::array<double, kLeafPoints> squared;
  for (std::uint32_t i = 0; i < own.count; ++i) {
    const Vec3d p{own.x[i], own.y[i], own.z[i]};
    if (!same && kd_tree::least_squared_distance(p, box) >= neighbors.worst[i]) continue;
    for (std::uint32_t j = 0; j < other.count; ++j) {
      squared[j] = squared_distance(p, {other.x[j], other.y[j], other.z[j]});
    }
    if (same) squared[i] = HUGE_VAL;
    for (std::uint32_t j = 0; j < other.count; ++j) {
      if (squared[j] < neighbors.worst[i]) neighbors.offer(i, squared[j]);
    }
  }
}

/// All neighbours of the points of leaf `own`, near boxes first.
void search(std::uint32_t own, const KdTreeView& tree, Neighbors& neighbors) {
  const Node& box = tree.nodes[own];
  const Leaf leaf = tree.leaf(box);
  neighbors.clear(leaf.count);
  offer_leaf(leaf, leaf, box, true, neighbors);
  double greatest = neighbors.greatest(leaf.count);
  std::array<std::pair<std::uint32_t, double>, kd_tree::kMaxDepth> stack;
  std::size_t depth = 0;
  stack[depth++] = {0, 0.0};
  while (depth > 0) {
    const auto [number, distance] = stack[--depth];
    if (distance >= greatest || number == own) continue;
    const Node& node = tree.nodes[number];
    if (node.left == 0) {
      offer_leaf(leaf, tree.leaf(node), node, false, neighbors);
      greatest = neighbors.greatest(leaf.count);
      continue;
    }
    const double to_left = kd_tree::least_squared_distance(box, tree.nodes[node.left]);
    const double to_right = kd_tree::least_squared_distance(box, tree.nodes[node.left + 1]);
    const bool left_first = to_left < to_right;
    stack[depth++] = {node.left + (left_first ? 1 : 0), left_first ? to_right : to_left};
    stack[depth++] = {node.left + (left_first ? 0 : 1), left_first ? to_left : to_right};
  }
}

/// Mean distance to the k nearest others per row; NaN for rows that are not finite.
Column<double> mean_distances(HitPoints points, const KdTree& tree, std::size_t k, OpContext& ctx) {
  Column<double> means(points.size());
  const auto to = means.view();
  parallel_for(ctx, points.size(), 262'144, [&](std::size_t begin, std::size_t end) {
    std::fill(to.data + begin, to.data + end, std::nan(""));
  });
  ctx.begin_phase("Measuring neighbour distances", tree.leaves().size);
  const KdTreeView view = tree.view();
  std::vector<Neighbors> scratch(static_cast<std::size_t>(ctx.threads()));
  for (Neighbors& neighbors : scratch) {
    neighbors.k = k;
    neighbors.nearest.resize(kLeafPoints * k);
  }
  parallel_for_worker(ctx, tree.leaves().size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    Neighbors& neighbors = scratch[static_cast<std::size_t>(worker)];
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t number = tree.leaves()[i];
      search(number, view, neighbors);
      const Leaf leaf = view.leaf(view.nodes[number]);
      for (std::uint32_t p = 0; p < leaf.count; ++p) {
        double sum = 0;
        for (std::size_t j = 0; j < k; ++j) sum += std::sqrt(neighbors.nearest[p * k + j]);
        to[leaf.row[p]] = sum / static_cast<double>(k);
      }
    }
  });
  return means;
}

/// The mean distance above which a point is noise.
double threshold_of(Span<const double> means, std::uint64_t finite_count, double std_ratio, OpContext& ctx) {
  const auto count = static_cast<double>(finite_count);
  const auto finite_row = [&](std::size_t i) { return !std::isnan(means[i]); };
  const double mean =
      parallel_sum(ctx, means.size, [&](std::size_t i) { return finite_row(i) ? means[i] : 0; }) / count;
  const double squares = parallel_sum(ctx, means.size, [&](std::size_t i) {
    const double off = finite_row(i) ? means[i] - mean : 0;
    return off * off;
  });
  return mean + std_ratio * std::sqrt(squares / (count - 1));
}

}  // namespace

NoiseResult statistical_outlier(HitPoints points, const StatisticalOutlierParams& params, OpContext& ctx) {
  if (params.nb_neighbors == 0 || params.nb_neighbors > kMaxOutlierNeighbors) {
    throw Error(ErrorCode::kInvalidArgument, "nb_neighbors " + std::to_string(params.nb_neighbors) +
                                                 " must be 1 to " + std::to_string(kMaxOutlierNeighbors));
  }
  require(std::isfinite(params.std_ratio), "std_ratio must be finite");
  NoiseResult result = all_noise(points, ctx);
  ctx.begin_phase("Sorting points", 0);
  const KdTree tree(points.xyz(), ctx);
  const auto labels = result.noise_class.view();
  if (tree.size() < 2) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (is_finite(points.xyz()[i])) labels[i] = kClean;
    }
  } else {
    const std::size_t k = std::min<std::uint64_t>(params.nb_neighbors, tree.size() - 1);
    const Column<double> means = mean_distances(points, tree, k, ctx);
    const double threshold = threshold_of(means.view(), tree.size(), params.std_ratio, ctx);
    parallel_for(ctx, points.size(), 262'144, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (means[i] <= threshold) labels[i] = kClean;
      }
    });
  }
  count_noise(result, tree.size(), ctx);
  return result;
}

}  // namespace pc
