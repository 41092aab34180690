#pragma once
#include <vector>

#include "ops/octree/octree_build.h"
#include "ops/octree/octree_frame.h"
#include "ops/octree/octree_hierarchy.h"
#include "ops/octree/octree_tree.h"

namespace pc::octree {

/// Bytes per point in octree.bin: three int32 coordinates, then the attributes in order.
std::uint32_t record_bytes(const OctreeInput& input);

/// Gathers every node's points from the columns and passes them to the sink, block by block.
void write_records(const OctreeInput& input, const Frame& frame, const Tree& tree, const Layout& layout,
                   OctreeSink& sink, OpContext& ctx);

}  // namespace pc::octree
