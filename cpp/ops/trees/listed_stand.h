#pragma once
#include <vector>

#include "core/op_context.h"
#include "ops/trees/competition.h"
#include "ops/trees/crown_cover.h"

namespace pc {

/// A measured tree as the stand pass needs it.
struct ListedTree {
  Vec2d base;          ///< metres
  double diameter_m;   ///< at breast height; NaN = unknown
  ConvexPolygon hull;  ///< of the crown; fewer than 3 corners = none
};

struct ListedStandParams {
  ConvexPolygon plot;  ///< fewer than 3 corners: unknown
  double competition_radius_m, least_distance_m;
  double cover_cell_m, most_cover_cells, most_overlap_pairs;
};

struct ListedStand {
  double plot_area_m2;  ///< 0 without a plot
  CrownCover cover;
  Competition competition;
};

/// The stand pass of tree_inventory for trees that were measured in parts: competition, crown cover and overlaps of the
/// joined list are those of one run on the whole cloud.
///
/// trees    metres, any one frame; may be empty
/// Order    For any thread count the same bits; overlaps are added in the order of the trees.
/// Cost     competition.h, crown_cover.h; a copy of the hulls.
/// Cancel   Within 50 ms.
/// Errors   Those of competition and crown_cover.
/// Source   competition.h, crown_cover.h.
ListedStand listed_stand(const std::vector<ListedTree>& trees, const ListedStandParams& params,
                         OpContext& ctx);

}  // namespace pc
