#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// What a tree of path_trees was grown from.
enum class TreeOrigin : std::uint8_t {
  kSeed,   ///< a seed of the caller
  kStem,   ///< a stem that crosses breast height
  kBase,   ///< plants that reach the ground without a stem in sight: understorey
  kCrown,  ///< the top of a crown without a path to any stem or to the ground
};

struct PathTree {
  Vec3d base;                ///< where its paths start: near the ground, of kCrown the top; frame of the points
  double height_m;           ///< greatest height above ground of its points
  std::uint64_t point_count;
  TreeOrigin origin;
};

struct PathTreesResult {
  Column<std::uint32_t> tree_instance;  ///< (n) 0 = none, else 1 .. trees.size(), input order
  std::vector<PathTree> trees;          ///< tree k + 1; with seeds one per seed, a tree may be empty
  double node_m;                        ///< edge of the voxels that became nodes
  std::uint64_t node_count;
};

/// Individual trees in a cloud of vegetation: every point belongs to the tree with the shortest path to it.
///
/// points   (n) metres, any one Cartesian frame, z up; vegetation only: the caller leaves ground out. Rows that are not
///          finite get 0.
/// heights  (n) above the ground, metres; NaN = unknown, such rows take the tree of their surroundings
/// seeds    (s) one place per tree, same frame; empty = find the trees. With seeds exactly s trees, tree k + 1 of seed k,
///          and no others.
/// Numbers  Without seeds by the x, then y, of the base.
/// Order    Labels follow the input; the result does not depend on threads nor on the order of the points.
/// Cost     path_trees_bytes of memory.
/// Cancel   Within 250 ms for any input; no partial result.
/// Errors   kInvalidArgument for lengths that differ, seeds that are not finite, 2^32 points or more.
PathTreesResult path_trees(HitPoints points, Span<const float> heights, Span<const Vec3d> seeds, OpContext& ctx);

/// Upper estimate of the scratch memory of path_trees.
std::uint64_t path_trees_bytes(std::uint64_t points);

}  // namespace pc
