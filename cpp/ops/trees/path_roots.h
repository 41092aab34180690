#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/trees/path_constants.h"
#include "ops/trees/path_nodes.h"
#include "ops/trees/path_search.h"
#include "ops/trees/stem_detection.h"

namespace pc {

/// The lower end of a stem: the nodes around its axis are where its paths start.
struct StemRoot {
  Vec3d foot;       ///< on the axis at the ground, relative to the origin of the nodes
  Vec3d axis;       ///< unit, upwards
  double radius_m;  ///< of the stem
  Vec3d start;      ///< where to look for a node if there is none around the axis
};

/// Starts of the paths of stems: nodes at most root_margin_m, or root_margin_part of the radius, outside the stem and root_top_m
/// above its foot (half as far below it), each for the stem whose surface is nearest, then the first. A stem without such nodes starts at the node
/// nearest to `start`, if that is within most_gap_m. Root of stem k is k.
///
/// A stem that has nodes in fewer than two of the four quarters of the first metre above the ground may be a limb: with
/// limb_cost_m its paths start at the cost of a step of that length, so that it is a part of the tree that reaches it for
/// less.
///
/// highest_m  nodes above this height are left out
std::vector<PathStart> stem_starts(const PathNodes& nodes, const std::vector<StemRoot>& stems,
                                   double highest_m, double limb_cost_m, const PathConstants& constants,
                                   OpContext& ctx);

/// A stem as a root; `start` is its axis at breast height.
StemRoot root_of(const DetectedStem& stem, const Vec3d& origin);

/// Roots of seeds: the stem that stands at the seed, or an upright one of no diameter.
std::vector<StemRoot> roots_of_seeds(Span<const Vec3d> seeds, const std::vector<StemRoot>& stems,
                                     const PathNodes& nodes, const PathConstants& constants, OpContext& ctx);

}  // namespace pc
