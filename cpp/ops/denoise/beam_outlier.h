#pragma once
#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/denoise/beam_origins.h"
#include "ops/denoise/cluster_outlier.h"
#include "ops/denoise/mixed_pixel.h"
#include "ops/denoise/noise_result.h"

namespace pc {

struct BeamOutlierResult {
  NoiseResult noise;
  MixedPixelResult mixed;
};

/// Noise of points whose beams are known: what cluster_outlier labels, and mixed pixels (mixed_pixel.h), in one tree.
/// Order, cancel and errors as of the two.
BeamOutlierResult beam_outlier(HitPoints points, const BeamOrigins& origins,
                               const ClusterOutlierParams& cluster, const MixedPixelParams& mixed,
                               OpContext& ctx);

}  // namespace pc
