#include "ops/trees/tiled_path_trees.h"

#include <utility>

#include "core/error.h"
#include "core/memory.h"
#include "ops/trees/cut_pursuit_trees.h"

namespace pc {

TiledPathTrees tiled_path_trees(HitPoints points, Span<const float> heights, Span<const Vec3d> seeds,
                                PathTreesParams params, const TreeTilePlan& plan, OpContext& ctx) {
  require(heights.size == points.size(), "one height per point is needed");
  params.origin = cut_pursuit_origin(points, ctx);
  BulkVector<float> own;
  HighPoints high{};
  LowCarpet carpet{};
  const TileSegmenter segmenter = [&](HitPoints part, Span<const std::uint32_t> rows,
                                      Span<const Vec3d> of_part, OpContext& within) {
    own.resize(rows.size);
    for (std::size_t i = 0; i < rows.size; ++i) {
      if (i % 65536 == 0) within.checkpoint();
      own[i] = heights[rows[i]];
    }
    PathTreesResult found = path_trees(part, own.view(), of_part, params, within);
    high.count += found.high.count;
    high.of_stems += found.high.of_stems;
    high.without_tree += found.high.without_tree;
    carpet.area_m2 += found.carpet.area_m2;
    carpet.point_count += found.carpet.point_count;
    return TileTrees{std::move(found.tree_instance), found.trees.size()};
  };
  TiledTreesResult found = tiled_trees(points, seeds, plan, 1, segmenter, ctx);
  return {std::move(found), high, carpet};
}

}  // namespace pc
