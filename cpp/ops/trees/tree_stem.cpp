#include "ops/trees/tree_stem.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ops/trees/flat_trees.h"
#include "ops/trees/layer_stem.h"
#include "ops/trees/low_trunk.h"
#include "ops/trees/stem_trust.h"
#include "ops/trees/trunk_layer.h"

namespace pc {

namespace {

constexpr double kThicker = 1.25;  // than the trunk of a low tree: more than errors of both explain
/// Height of a tree with a thick trunk, in diameters: baobabs have 3 to 5, clipped shrubs less.
constexpr double kLeastThickHeights = 2.5;

/// Whether the surface of a stem may be as flat as a wall.
bool is_thick_stem(const Stem& stem) {
  constexpr double kThickRadius = 0.9, kSeenArc = 0.3;
  const auto& at = stem.breast_height;
  return at && at->circle.radius >= kThickRadius && at->circle.arc_coverage >= kSeenArc;
}

TreeStem trusted_stem(const TreeToMeasure& tree, const StemParams& params, OpContext& ctx) {
  TreeStem out{measure_stem(tree.points, tree.ground, params, ctx), 0, 0, false};
  out.height_m = tree.box.max.z - out.stem.base.z;
  out.sigma_m = breast_height_sigma(out.stem);
  out.flat = tree.flat_share >= kFlatTree && !is_thick_stem(out.stem);
  if (out.flat || is_shrub(out.stem, out.height_m, params.breast_height_m) ||
      is_no_stem(out.stem, out.height_m, out.sigma_m)) {
    out.stem.breast_height.reset();
    out.sigma_m = std::nan("");
  }
  return out;
}

/// Whether the circle may be one of leaves.
bool is_scattered(const TreeStem& tree) {
  constexpr double kMostSigmaPart = 0.1;  // of the diameter
  constexpr double kLeastShare = 0.5;     // of the points around it
  const auto& at = tree.stem.breast_height;
  return at && (!(at->scatter_m <= kMostScatter) || at->evidence.share < kLeastShare ||
                !(tree.sigma_m <= kMostSigmaPart * 2 * at->circle.radius));
}

/// Whether the points of a stem scatter far less about it than those of another circle, and tell its diameter better.
bool is_clearer(const TreeStem& stem, const TreeStem& other) {
  constexpr double kLess = 0.5;
  const double scatter = other.stem.breast_height->scatter_m;
  return (std::isnan(scatter) || stem.stem.breast_height->scatter_m <= kLess * scatter) &&
         !(stem.sigma_m >= other.sigma_m);
}

/// Where twigs and leaves hide the stem from the search of circles.
void take_layer_stem(TreeStem& out, const TreeToMeasure& tree, StemParams params, OpContext& ctx) {
  params.start = layer_stem(tree.points, tree.ground, params, ctx);
  if (!params.start) return;
  TreeStem found = trusted_stem(tree, params, ctx);
  // Through few points and short arcs many circles pass, and here another search has found none that is a stem's.
  constexpr double kLeastArc = 0.25, kMostSigmaPart = 0.1;
  const auto& at = found.stem.breast_height;
  if (!at || at->few_points || at->circle.arc_coverage < kLeastArc ||
      !(found.sigma_m <= kMostSigmaPart * 2 * at->circle.radius))
    return;
  if (!out.stem.breast_height || is_clearer(found, out)) out = std::move(found);
}

bool may_be_thick(const Box3d& box, const ThickStemParams& thick) {
  const double least = 2 * thick.min_radius_m;
  const Vec3d size = box.max - box.min;
  return size.x >= least && size.y >= least && size.z >= kLeastThickHeights * least;
}

void take_thick_stem(TreeStem& out, const TreeToMeasure& tree, StemParams params,
                     const ThickStemParams& thick, OpContext& ctx) {
  constexpr double kMostScatterPart = 0.04, kLeastArc = 0.5;
  params.min_radius_m = thick.min_radius_m;
  params.max_radius_m = thick.max_radius_m;
  params.inlier_part = thick.inlier_part;
  TreeStem found = trusted_stem(tree, params, ctx);
  const auto& at = found.stem.breast_height;
  if (!at || at->circle.arc_coverage < kLeastArc) return;
  const double radius = at->circle.radius;
  if (at->scatter_m <= kMostScatterPart * radius && found.height_m >= kLeastThickHeights * 2 * radius)
    out = std::move(found);
}

void leave_out_leaves(TreeStem& out, const TreeToMeasure& tree, const StemParams& params, OpContext& ctx) {
  distrust_leaves(out.stem, out.height_m, params.breast_height_m);
  auto& curve = out.stem.curve;
  if (out.flat)
    for (StemSection& section : curve) section.ok = false;
  if (std::any_of(curve.begin(), curve.end(), [](const StemSection& at) { return at.ok; })) return;
  out.stem = unseen_stem(tree.points, tree.ground, params, ctx);
  out.height_m = tree.box.max.z - out.stem.base.z;
}

void take_trunk(TreeStem& out, const TreeToMeasure& tree, const StemParams& params, OpContext& ctx) {
  auto& at = out.stem.breast_height;
  auto trunk = low_trunk(tree.points, tree.ground, params, out.height_m, ctx);
  const bool is_thicker = at && trunk && at->circle.radius > kThicker * trunk->radius_m;
  if (is_thicker || is_at_trunk(out.height_m, params)) at.reset();
  if (trunk && !at) out.stem = std::move(trunk->stem);
  out.height_m = tree.box.max.z - out.stem.base.z;
  out.sigma_m = breast_height_sigma(out.stem);
}

}  // namespace

bool is_at_trunk(double height_m, const StemParams& params) {
  return height_m < kLowTree && params.breast_height_m < params.seed_min_m;
}

TreeStem stem_of_tree(const TreeToMeasure& tree, const StemParams& params, const ThickStemParams& thick,
                      OpContext& ctx) {
  TreeStem out = trusted_stem(tree, params, ctx);
  if (!out.stem.breast_height && may_be_thick(tree.box, thick))
    take_thick_stem(out, tree, params, thick, ctx);
  if ((!out.stem.breast_height || is_scattered(out)) && !out.flat) take_layer_stem(out, tree, params, ctx);
  if (!out.stem.breast_height) leave_out_leaves(out, tree, params, ctx);
  if (out.height_m < kLowTree && !out.flat) take_trunk(out, tree, params, ctx);
  return out;
}

}  // namespace pc
