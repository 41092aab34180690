#include "ops/trees/low_trunk.h"

#include <algorithm>
#include <cmath>
#include <limits>
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

struct Asked {
  const TreeGround& ground;
  const StemParams& params;
  double height_m;
  TrunkLayer layer;

  /// Whether breast height is at the trunk.
  bool is_at_trunk() const {
    return params.breast_height_m >= layer.min_m && params.breast_height_m <= kHighestPart * height_m;
  }
};

std::optional<LowTrunk> trunk_in(Span<const Vec3d> points, const Asked& asked, OpContext& ctx) {
  const TrunkLayer& layer = asked.layer;
  StemParams low = asked.params;
  low.seed_min_m = low.curve_start_m = layer.min_m;
  low.seed_max_m = low.lean_fit_max_m = layer.max_m;
  low.seed_step_m = low.curve_step_m = (layer.max_m - layer.min_m) / kSteps;
  if (!asked.is_at_trunk()) low.breast_height_m = (layer.min_m + layer.max_m) / 2;
  // The radius is measured on a stretch of stem, which would reach into the limbs.
  const double top = measure_stem(points, asked.ground, low, ctx).base.z + kHighestPart * asked.height_m;
  std::vector<Vec3d> below;
  for (const Vec3d& p : points)
    if (p.z <= top) below.push_back(p);
  if (below.empty()) return std::nullopt;
  Stem stem = measure_stem({below.data(), below.size()}, asked.ground, low, ctx);
  std::erase_if(stem.curve, [&](const StemSection& section) { return section.axial_m > layer.max_m; });
  if (is_doubtful(stem, asked.height_m)) return std::nullopt;
  distrust_leaves(stem, asked.height_m, low.breast_height_m);
  const double radius = stem.breast_height->circle.radius;
  if (!asked.is_at_trunk()) stem.breast_height.reset();
  return LowTrunk{std::move(stem), radius};
}

/// The points around what is lowest, seen from above: the trunk without the limbs that hang beside it. None where the lowest points
/// are in several places.
std::vector<Vec3d> near_foot(Span<const Vec3d> points, double height_m) {
  constexpr double kFoot = 0.05;   // metres
  constexpr double kAround = 0.1;  // of the tree's height
  double lowest = std::numeric_limits<double>::infinity();
  for (const Vec3d& p : points) lowest = std::min(lowest, p.z);
  const Vec3d first = points[0];
  Vec3d sum{0, 0, 0};
  double count = 0;
  for (const Vec3d& p : points) {
    if (p.z > lowest + kFoot) continue;
    sum = sum + (p - first);
    count += 1;
  }
  const Vec3d foot = first + sum * (1 / count);
  bool has_foot = false;
  std::vector<Vec3d> near;
  for (const Vec3d& p : points) {
    if (!(std::hypot(p.x - foot.x, p.y - foot.y) <= kAround * height_m)) continue;
    near.push_back(p);
    has_foot = has_foot || p.z <= lowest + kFoot;
  }
  return has_foot ? near : std::vector<Vec3d>{};
}

}  // namespace

std::optional<LowTrunk> low_trunk(Span<const Vec3d> points, const TreeGround& ground,
                                  const StemParams& params, double height_m, OpContext& ctx) {
  if (!(height_m > 0 && height_m < kLowTree)) return std::nullopt;
  const Asked asked{ground, params, height_m, trunk_layer_of(height_m)};
  const std::vector<Vec3d> near = near_foot(points, height_m);
  if (!near.empty())
    if (auto trunk = trunk_in({near.data(), near.size()}, asked, ctx)) return trunk;
  return trunk_in(points, asked, ctx);
}

}  // namespace pc
