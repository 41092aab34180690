#include "ops/denoise/beam_outlier.h"

#include "ops/denoise/noise_labels.h"

namespace pc {

BeamOutlierResult beam_outlier(HitPoints points, const BeamOrigins& origins,
                               const ClusterOutlierParams& cluster, const MixedPixelParams& mixed,
                               OpContext& ctx) {
  BeamOutlierResult result{all_noise(points, ctx), {}};
  ctx.begin_phase("Sorting points", 0);
  const KdTree tree(points.xyz(), ctx);
  const auto labels = result.noise.noise_class.view();
  label_clusters(tree, cluster, labels, ctx);
  result.mixed = label_mixed_pixels(tree, origins, mixed, labels, ctx);
  count_noise(result.noise, tree.size(), ctx);
  return result;
}

}  // namespace pc
