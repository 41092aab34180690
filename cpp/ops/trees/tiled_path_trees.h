#pragma once
#include "ops/trees/path_trees.h"
#include "ops/trees/tree_tiles.h"

namespace pc {

struct TiledPathTrees {
  TiledTreesResult found;
  HighPoints high;   ///< sums over the tiles with their buffers
  LowCarpet carpet;  ///< the same
};

/// path_trees in tiles, whose voxels meet at the middle of the whole cloud. The contracts of both apply.
TiledPathTrees tiled_path_trees(HitPoints points, Span<const float> heights, Span<const Vec3d> seeds,
                                PathTreesParams params, const TreeTilePlan& plan, OpContext& ctx);

}  // namespace pc
