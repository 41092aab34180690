#include "ops/denoise/statistical_outlier.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/gpu_run.h"
#include "core/parallel.h"
#include "ops/denoise/noise_labels.h"
#include "ops/denoise/statistical_outlier_kernel.h"
#include "spatial/all_knn.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

/// Whether a device measured the points of a leaf as the CPU does.
bool has_means_of_cpu(const kd_tree::Node& node, std::uint32_t k, const KdTreeView& tree,
                      Span<const double> means) {
  const kd_tree::Leaf leaf = tree.leaf(node);
  std::vector<double> list(k);
  for (std::uint32_t i = 0; i < leaf.count; ++i) {
    tree.nearest_distances(leaf.point(i), k, leaf.row[i], list.data(), 1);
    if (means[leaf.row[i]] != statistical_outlier_kernel::mean_distance(list.data(), k, 1)) return false;
  }
  return true;
}

/// Mean distance of each row to its k nearest others; NaN for rows that are not finite.
Column<double> mean_distances(HitPoints points, const KdTree& tree, std::uint32_t k,
                              std::vector<std::string>& warnings, OpContext& ctx) {
  Column<double> means(points.size());
  const auto to = means.view();
  parallel_for(ctx, points.size(), 262'144, [&](std::size_t begin, std::size_t end) {
    std::fill(to.data + begin, to.data + end, std::nan(""));
  });
  ctx.begin_phase("Measuring neighbour distances", tree.leaves().size);
  const statistical_outlier_kernel::HostPass pass{tree.host(), k, to.data, to.size};
  const KdTreeView view = tree.view();
  const bool done = GpuRun(ctx, "Denoise", warnings)
                        .run([&](const auto& table, const auto& control,
                                 auto& error) { return table.mean_distances(&pass, &control, &error); },
                             [&] {
                               return sample_agrees(tree.leaves().size, [&](std::size_t i) {
                                 return has_means_of_cpu(view.nodes[tree.leaves()[i]], k, view, means.view());
                               });
                             });
  if (done) return means;
  const std::vector<std::size_t> blocks = tree.leaf_blocks(all_knn_block(k));
  ctx.begin_phase("Measuring neighbour distances", blocks.size() - 1);
  const Span<const std::size_t> all{blocks.data(), blocks.size()};
  all_knn(tree, {k, 0, KnnColumns::kSquared}, all, ctx, [&](std::uint32_t number, const LeafKnn& neighbors) {
    const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
    for (std::uint32_t p = 0; p < leaf.count; ++p) {
      const Span<const double> squared = neighbors.squared(p);
      to[leaf.row[p]] = squared.size < k ? kd_tree::kInfinity
                                         : statistical_outlier_kernel::mean_distance(squared.data, k, 1);
    }
  });
  return means;
}

/// The mean distance above which a point is noise, of the rows whose mean distance is at most `most`.
double threshold_of(Span<const double> means, double most, double std_ratio, OpContext& ctx) {
  const auto counts = [&](std::size_t i) { return means[i] <= most; };  // NaN does not
  const double count = parallel_sum(ctx, means.size, [&](std::size_t i) { return counts(i) ? 1.0 : 0; });
  const double mean =
      parallel_sum(ctx, means.size, [&](std::size_t i) { return counts(i) ? means[i] : 0; }) / count;
  const double squares = parallel_sum(ctx, means.size, [&](std::size_t i) {
    const double off = counts(i) ? means[i] - mean : 0;
    return off * off;
  });
  return mean + std_ratio * std::sqrt(squares / std::max(1.0, count - 1));
}

/// Points so far out that they raise the limit for all others are told.
void tell_strays(NoiseResult& result, Span<const double> means, double threshold, double std_ratio,
                 OpContext& ctx) {
  constexpr double kRaised = 2;          // limit over that without the noise
  constexpr std::uint64_t kFewest = 10;  // points that this hides
  const std::uint64_t strays = result.flagged_count - result.non_finite_count;
  if (strays == 0) return;
  const double without = threshold_of(means, threshold, std_ratio, ctx);
  if (!(threshold > kRaised * without)) return;
  const auto hidden = static_cast<std::uint64_t>(parallel_sum(
      ctx, means.size, [&](std::size_t i) { return means[i] > without && means[i] <= threshold ? 1.0 : 0; }));
  if (hidden < kFewest || hidden < strays) return;
  result.warnings.push_back(
      std::to_string(strays) +
      (strays == 1 ? " point lies so far out that it decides" : " points lie so far out that they decide") +
      " the limit for all others: without " + (strays == 1 ? "it " : "them ") + std::to_string(hidden) +
      " more would be noise. Delete " + (strays == 1 ? "it" : "them") +
      " and label the noise again, or use method auto or ror, which judge each point by its surroundings.");
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
    const auto k = static_cast<std::uint32_t>(std::min<std::uint64_t>(params.nb_neighbors, tree.size() - 1));
    const Column<double> means = mean_distances(points, tree, k, result.warnings, ctx);
    const double threshold = threshold_of(means.view(), kd_tree::kInfinity, params.std_ratio, ctx);
    parallel_for(ctx, points.size(), 262'144, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (means[i] <= threshold) labels[i] = kClean;
      }
    });
    count_noise(result, tree.size(), ctx);
    tell_strays(result, means.view(), threshold, params.std_ratio, ctx);
    return result;
  }
  count_noise(result, tree.size(), ctx);
  return result;
}

}  // namespace pc
