#include "ops/trees/low_trunk.h"

#include "ops/trees/stem_trust.h"
#include "ops/trees/trunk_layer.h"

namespace pc {

namespace {

constexpr double kSteps = 4;          // slices of the layer
constexpr double kHighestPart = 0.2;  // of the tree's height: trunks part above it

}  // namespace

std::optional<Stem> low_trunk(Span<const Vec3d> points, const TreeGround& ground, const StemParams& params,
                              double height_m, OpContext& ctx) {
  if (!(height_m > 0 && height_m < kLowTree)) return std::nullopt;
  const TrunkLayer layer = trunk_layer_of(height_m);
  const bool is_asked =
      params.breast_height_m >= layer.min_m && params.breast_height_m <= kHighestPart * height_m;
  StemParams low = params;
  low.seed_min_m = low.curve_start_m = layer.min_m;
  low.seed_max_m = low.lean_fit_max_m = layer.max_m;
  low.seed_step_m = low.curve_step_m = (layer.max_m - layer.min_m) / kSteps;
  if (!is_asked) low.breast_height_m = (layer.min_m + layer.max_m) / 2;
  Stem stem = measure_stem(points, ground, low, ctx);
  std::erase_if(stem.curve, [&](const StemSection& section) { return section.axial_m > layer.max_m; });
  if (!stem.breast_height || is_no_stem(stem, height_m, breast_height_sigma(stem))) return std::nullopt;
  if (!is_asked) stem.breast_height.reset();
  return stem;
}

}  // namespace pc
