#pragma once
#include "ops/trees/cut_pursuit_trees.h"
#include "ops/trees/tree_tiles.h"

namespace pc {

/// cut_pursuit_trees in tiles, whose voxels meet at the centre of the whole cloud. The contracts of both apply.
TiledTreesResult tiled_cut_pursuit(HitPoints points, Span<const Vec3d> seeds, CutPursuitTreesParams params,
                                   const TreeTilePlan& plan, OpContext& ctx);

}  // namespace pc
