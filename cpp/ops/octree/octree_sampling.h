#pragma once
#include "core/op_context.h"
#include "ops/octree/octree_frame.h"
#include "ops/octree/octree_tree.h"

namespace pc::octree {

/// Moves points up: from the deepest inner level to the root, every level takes an evenly spaced subset (minimum
/// distance side / 128 / 2^level) of the points of its children. Writes tree.level. The result does not depend on
/// threads.
void sample_levels(Tree& tree, const Frame& frame, OpContext& ctx);

}  // namespace pc::octree
