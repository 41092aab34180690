#include "ops/denoise/beam_consistency.h"

#include "core/memory.h"
#include "core/parallel.h"
#include "ops/denoise/beam_origins.h"
#include "ops/denoise/beam_steps.h"
#include "spatial/kd_tree.h"

namespace pc {

BeamConsistency beam_consistency(const HitSelection& hits, Span<const Vec3d> origins, std::size_t rows,
                                 OpContext& ctx) {
  const BeamOrigins beams_from(origins, rows, hits);
  ctx.begin_phase("Comparing the points with their beams", 0);
  const auto unknown = static_cast<std::uint64_t>(parallel_sum(
      ctx, hits.points().size(), [&](std::size_t i) { return is_finite(beams_from.of(i)) ? 0.0 : 1.0; }));
  const KdTree tree(hits.points().xyz(), ctx);
  if (tree.size() == 0) return {unknown, false, 0};
  const beams::BeamSteps steps = beams::measure_steps(tree, beams_from, ctx);
  if (!(steps.median() > 0) || steps.moving()) return {unknown, false, 0};
  const BulkVector<std::uint8_t> no_labels(hits.points().size());
  return {unknown, true, beams::inconsistent_share(tree, beams_from, steps, no_labels.view(), ctx)};
}

}  // namespace pc
