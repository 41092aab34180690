#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "ops/trees/path_nodes.h"
#include "ops/trees/path_search.h"

namespace pc {

/// Tops of the canopy among the nodes without a path: the nodes that are the highest of such nodes within half a crown
/// width of their height. Named from `first_root` on, the highest first.
///
/// Width    2.51503 + 0.00901 h^2 metres, h the height above the ground or, where it is unknown, above the lowest of
///          these nodes; at most that of 40 m
/// Cost     O(m) time for cells of a quarter of the least width, and at most 1,200 cells per cell.
/// Source   Popescu & Wynne 2004, Photogramm. Eng. Remote Sens. 70: 589, combined pines and deciduous trees.
std::vector<PathStart> crown_starts(const PathNodes& nodes, const Paths& paths, std::uint32_t first_root,
                                    OpContext& ctx);

}  // namespace pc
