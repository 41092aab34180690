#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "ops/octree/octree_frame.h"

namespace pc::octree {

/// One point in octree order, 16 bytes: the data that sampling and writing read repeatedly.
struct Record {
  Steps at;
  std::uint32_t row;
};

/// A node covers records [begin, end); its children cover consecutive parts of it, in child order (bit 2 x, 1 y, 0 z).
struct Node {
  std::uint32_t begin, end;
  std::uint32_t x, y, z;  ///< node coordinates at its level
  std::uint32_t parent;
  std::array<std::uint32_t, 8> child;  ///< 0 = none (the root is not a child)
  std::uint32_t leaf;                  ///< index into Tree::leaves, kInner for inner nodes
  std::uint32_t own;                   ///< records that stay in this node, set by sampling
  std::uint8_t level;

  static constexpr std::uint32_t kInner = 0xffffffffu;
  bool inner() const { return leaf == kInner; }
};

struct Leaf {
  std::uint32_t node;
  bool inseparable;  ///< more than leaf_capacity records, all at one rounded coordinate
  std::array<std::uint32_t, 8> octant_end;  ///< records are ordered by octant; end of each
};

/// Nodes in depth-first order; records sorted by leaf, octant of the leaf, row.
struct Tree {
  BulkVector<Node> nodes;  ///< [0] is the root
  BulkVector<Leaf> leaves;
  BulkVector<Record> records;
  BulkVector<std::uint8_t> level;  ///< (records) level of the node that holds it; initially that of its leaf
  std::uint32_t depth = 0;
};

Tree make_tree(const OctreeInput& input, const Frame& frame, std::uint32_t leaf_capacity, OpContext& ctx);

}  // namespace pc::octree
