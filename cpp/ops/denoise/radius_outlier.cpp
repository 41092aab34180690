#include "ops/denoise/radius_outlier.h"

#include <cmath>
#include <string>

#include "core/error.h"
#include "core/gpu_run.h"
#include "core/parallel.h"
#include "ops/denoise/noise_labels.h"
#include "ops/denoise/radius_outlier_kernel.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 32;  // leaves; 1024 points

void classify_leaf(const kd_tree::Node& node, const radius_outlier_kernel::Ball& ball, const KdTreeView& tree,
                   Span<std::uint8_t> labels) {
  const kd_tree::Leaf leaf = tree.leaf(node);
  const bool all_close =
      leaf.count >= ball.wanted && squared_distance(node.min, node.max) <= ball.squared_radius;
  for (std::uint32_t i = 0; i < leaf.count; ++i) {
    const bool clean = all_close || radius_outlier_kernel::is_clean(leaf, i, ball, tree);
    labels[leaf.row[i]] = clean ? kClean : kNoise;
  }
}

/// Whether a device labelled the points of a leaf as the CPU does.
bool has_labels_of_cpu(const kd_tree::Node& node, const radius_outlier_kernel::Ball& ball,
                       const KdTreeView& tree, Span<const std::uint8_t> labels) {
  const kd_tree::Leaf leaf = tree.leaf(node);
  for (std::uint32_t i = 0; i < leaf.count; ++i) {
    const bool clean = radius_outlier_kernel::is_clean(leaf, i, ball, tree);
    if (labels[leaf.row[i]] != (clean ? kClean : kNoise)) return false;
  }
  return true;
}

}  // namespace

NoiseResult radius_outlier(HitPoints points, const RadiusOutlierParams& params, OpContext& ctx) {
  if (!(std::isfinite(params.radius_m) && params.radius_m > 0)) {
    throw Error(ErrorCode::kInvalidArgument,
                "radius " + std::to_string(params.radius_m) + " must be finite and above 0");
  }
  NoiseResult result = all_noise(points, ctx);
  ctx.begin_phase("Sorting points", 0);
  const KdTree tree(points.xyz(), ctx);
  const radius_outlier_kernel::Ball ball{params.radius_m * params.radius_m,
                                         static_cast<std::uint64_t>(params.nb_points) + 1};
  ctx.begin_phase("Counting neighbours", tree.leaves().size);
  const KdTreeView view = tree.view();
  const auto labels = result.noise_class.view();
  const radius_outlier_kernel::HostPass pass{tree.host(), ball, labels.data, labels.size};
  const bool done = tree.size() > 0 &&
                    GpuRun(ctx, "Denoise", result.warnings)
                        .run([&](const auto& table, const auto& control,
                                 auto& error) { return table.radius_outlier(&pass, &control, &error); },
                             [&] {
                               return sample_agrees(tree.leaves().size, [&](std::size_t i) {
                                 return has_labels_of_cpu(view.nodes[tree.leaves()[i]], ball, view, labels);
                               });
                             });
  if (!done) {
    parallel_for(ctx, tree.leaves().size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        classify_leaf(view.nodes[tree.leaves()[i]], ball, view, labels);
    });
  }
  count_noise(result, tree.size(), ctx);
  return result;
}

}  // namespace pc
