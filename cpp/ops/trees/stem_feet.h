#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/trees/path_graph.h"
#include "ops/trees/path_nodes.h"
#include "ops/trees/path_roots.h"

namespace pc {

/// A group of nodes that may be a tree, or the foot of one.
struct FootGroup {
  float height_m;  ///< of its highest node; NaN = none has a height
  bool has_stem;
};

/// Tells buttresses, flared feet and prop roots from trees beside a stem: what leans on a stem all around is its foot.
///
/// group_of_node  (m) kNoRoot = none
/// groups         those of stems first, in the order of `stems`
/// Foot           A group without a stem of its own (trees that hang in others lean as feet do) up to 8 m, and up to a third of the
///                height of a stem's tree, of whose upper quarter a tenth touches nodes of that tree, and whose outline falls: the higher above the ground, the nearer to the axis of the stem
///                it ends, and at its top at most half as far as at the ground. A shrub ends above where it is wide,
///                and touches nothing there.
/// Returns        (groups) the group that each belongs to, itself in most cases
/// Order          Does not depend on threads.
/// Cost           O(m neighbours).
std::vector<std::uint32_t> stem_feet(const PathNodes& nodes, const PathGraph& graph,
                                     Span<const std::uint32_t> group_of_node,
                                     const std::vector<FootGroup>& groups, const std::vector<StemRoot>& stems,
                                     OpContext& ctx);

}  // namespace pc
