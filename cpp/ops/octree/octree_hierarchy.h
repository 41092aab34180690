#pragma once
#include <cstddef>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "ops/octree/octree_tree.h"

namespace pc::octree {

/// A node that is written to the files.
struct PlacedNode {
  std::uint32_t node;
  std::uint64_t offset;  ///< of its records in octree.bin
};

/// The root and the nodes that have points or descendants with points, level by level, each level in Morton order;
/// their records are in the same order.
struct Layout {
  BulkVector<PlacedNode> nodes;
  BulkVector<std::uint8_t> child_mask;  ///< (nodes) children that are written
  std::uint64_t total_bytes = 0;
  std::uint32_t depth = 0;
};

/// Counts the records of each node (Node::own) and assigns their offsets.
Layout make_layout(Tree& tree, std::uint32_t record_bytes, OpContext& ctx);

/// hierarchy.bin: records of 22 bytes, little-endian, in chunks. A chunk describes a node and its descendants.
///
/// | offset | type | meaning |
/// |---|---|---|
/// | 0 | u8 | 0 inner node, 1 leaf, 2 proxy: inner node whose own record opens another chunk |
/// | 1 | u8 | bit i: child i follows |
/// | 2 | u32 | points in the node |
/// | 6 | i64 | offset of its points in octree.bin; of its chunk in hierarchy.bin for a proxy |
/// | 14 | i64 | their bytes; of its chunk for a proxy |
///
/// A chunk starts at a level divisible by 4 and holds 4 levels breadth-first, then the inner nodes of the next level as
/// proxies and the leaves of that level as leaves. Chunks are in breadth-first order, the root's at offset 0.
struct Hierarchy {
  BulkVector<std::byte> bytes;
  std::uint64_t first_chunk_bytes = 0;
};
Hierarchy make_hierarchy(const Tree& tree, const Layout& layout, std::uint32_t record_bytes);

}  // namespace pc::octree
