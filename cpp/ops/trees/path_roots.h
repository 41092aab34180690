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
};

/// Starts of the paths of stems: nodes at most root_margin_m outside the stem and root_top_m above its foot (as far
/// below it), each for the stem whose surface is nearest, then the first. A stem without such nodes starts at the node
/// nearest to its axis at breast height, if that is within most_gap_m.
///
/// Root of stem k is k.
std::vector<PathStart> stem_starts(const PathNodes& nodes, const std::vector<StemRoot>& stems,
                                   const PathConstants& constants, OpContext& ctx);

/// Stems as roots.
StemRoot root_of(const DetectedStem& stem, const Vec3d& origin);

/// Roots of seeds: the stem that stands at the seed, or an upright one of no diameter.
std::vector<StemRoot> roots_of_seeds(Span<const Vec3d> seeds, const std::vector<StemRoot>& stems,
                                     const PathNodes& nodes, const PathConstants& constants, OpContext& ctx);

}  // namespace pc
