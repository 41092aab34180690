#pragma once
#include <vector>

#include "ops/trees/path_constants.h"
#include "ops/trees/path_nodes.h"
#include "ops/trees/path_search.h"

namespace pc {

/// Fewer stems say nothing of where trunks begin.
constexpr std::size_t kFewestTrunks = 3;
constexpr double kTrunkShare = 0.25;

/// Tells limbs that hang to 0.1 m above the ground from what stands on it, among low trees (trunk_layer).
///
/// Height  Up to which what stands is seen to begin: the lowest nodes of stems follow each other from the ground on, by less
///         than the edge of a node, and those of limbs begin above a gap. The edge of a node above the last of the trunks; nothing
///         is told where fewer than kFewestTrunks stems, or than kTrunkShare of them, are trunks.
/// Limbs   Stems that begin higher start at the cost of a step of limb_cost_m, so that they are a part of the tree that
///         reaches them for less.
///
/// at_stems  of stem_starts, roots below `stems`; the costs of limbs change
/// returns   the height, at most low_m; low_m where nothing is told
double tell_limbs(const PathNodes& nodes, std::size_t stems, const PathConstants& constants,
                  std::vector<PathStart>& at_stems);

}  // namespace pc
