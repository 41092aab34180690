#include "ops/trees/tiled_cut_pursuit.h"

#include <utility>

namespace pc {

TiledTreesResult tiled_cut_pursuit(HitPoints points, Span<const Vec3d> seeds, CutPursuitTreesParams params,
                                   const TreeTilePlan& plan, OpContext& ctx) {
  params.voxel_origin = cut_pursuit_origin(points, ctx);
  const TileSegmenter segmenter = [&params](HitPoints part, Span<const std::uint32_t>,
                                            Span<const Vec3d> of_part, OpContext& within) {
    CutPursuitTreesResult found = cut_pursuit_trees(part, of_part, params, within);
    return TileTrees{std::move(found.tree_instance), found.tree_count};
  };
  return tiled_trees(points, seeds, plan, kFewestTreePoints, segmenter, ctx);
}

}  // namespace pc
