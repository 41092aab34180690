#pragma once
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "ops/skeleton/hop_graph.h"
#include "ops/skeleton/level_set_skeleton.h"

namespace pc {

/// Hops from the roots to every point of a graph.
struct Hops {
  BulkVector<std::uint32_t> label;  ///< (m) 1 at a root, then one more per edge; 0 = not reached
  std::uint32_t most = 0;           ///< largest label
  std::uint64_t reached = 0;
};

/// Breadth-first search from all points lower than root_threshold_m. Points that no path links have label 0.
Hops count_hops(const HopGraph& graph, double root_threshold_m, OpContext& ctx);

/// The level of a label: floor(s levels) with s = label / most, or its square root; at most levels - 1.
std::uint32_t level_of(std::uint32_t label, std::uint32_t most, const SkeletonParams& params);

/// Blocks and the points of each.
struct LevelBlocks {
  std::vector<SkeletonBlock> blocks;      ///< by level, then by their first point; without children
  BulkVector<std::uint32_t> block_of;     ///< (m) block of every point, kNoBlock = not reached
  std::vector<std::uint64_t> first;       ///< (blocks + 1) into member
  BulkVector<std::uint32_t> member;       ///< points, block after block
  std::vector<std::uint32_t> last_label;  ///< largest label of a block's points
};

/// Connected pieces of equal level. The parent of a block is the one with the lowest level that it touches, if that is
/// below its own; of several, the one with most points, then the first. A block without one holds a root.
LevelBlocks level_blocks(const HopGraph& graph, const Hops& hops, const SkeletonParams& params,
                         OpContext& ctx);

/// Which blocks the filters keep: large ones, and every ancestor of one.
std::vector<bool> kept_blocks(const std::vector<SkeletonBlock>& blocks, const SkeletonParams& params);

}  // namespace pc
