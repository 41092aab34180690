#include "ops/trees/low_trunk.h"

#include <utility>
#include <vector>

#include "ops/trees/stem_trust.h"
#include "ops/trees/trunk_layer.h"

namespace pc {

namespace {

constexpr double kSteps = 4;          // slices of the layer
constexpr double kHighestPart = 0.2;  // of the tree's height: trunks part above it
constexpr double kMostSigma = 0.1;  // of the diameter: leaves near the ground have more, trunks 0.005 to 0.02

/// Whether the circle is one of leaves and herbs.
bool is_doubtful(const Stem& stem, double height_m) {
  const double sigma = breast_height_sigma(stem);
  return !stem.breast_height || stem.breast_height->high_residual ||
         !(sigma <= kMostSigma * 2 * stem.breast_height->circle.radius) || is_no_stem(stem, height_m, sigma);
}

}  // namespace

std::optional<LowTrunk> low_trunk(Span<const Vec3d> points, const TreeGround& ground,
                                  const StemParams& params, double height_m, OpContext& ctx) {
  if (!(height_m > 0 && height_m < kLowTree)) return std::nullopt;
  const TrunkLayer layer = trunk_layer_of(height_m);
  const bool is_asked =
      params.breast_height_m >= layer.min_m && params.breast_height_m <= kHighestPart * height_m;
  StemParams low = params;
  low.seed_min_m = low.curve_start_m = layer.min_m;
  low.seed_max_m = low.lean_fit_max_m = layer.max_m;
  low.seed_step_m = low.curve_step_m = (layer.max_m - layer.min_m) / kSteps;
  if (!is_asked) low.breast_height_m = (layer.min_m + layer.max_m) / 2;
  // The radius is measured on a stretch of stem, which would reach into the limbs.
  const double top = measure_stem(points, ground, low, ctx).base.z + kHighestPart * height_m;
  std::vector<Vec3d> below;
  for (const Vec3d& p : points)
    if (p.z <= top) below.push_back(p);
  if (below.empty()) return std::nullopt;
  Stem stem = measure_stem({below.data(), below.size()}, ground, low, ctx);
  std::erase_if(stem.curve, [&](const StemSection& section) { return section.axial_m > layer.max_m; });
  if (is_doubtful(stem, height_m)) return std::nullopt;
  distrust_leaves(stem, height_m, low.breast_height_m);
  const double radius = stem.breast_height->circle.radius;
  if (!is_asked) stem.breast_height.reset();
  return LowTrunk{std::move(stem), radius};
}

}  // namespace pc
