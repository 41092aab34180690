#include "ops/trees/listed_stand.h"

namespace pc {

ListedStand listed_stand(const std::vector<ListedTree>& trees, const ListedStandParams& params,
                         OpContext& ctx) {
  std::vector<Vec2d> bases;
  std::vector<double> diameters;
  std::vector<ConvexPolygon> hulls;
  for (const ListedTree& tree : trees) {
    bases.push_back(tree.base);
    diameters.push_back(tree.diameter_m);
    hulls.push_back(tree.hull);
  }
  ctx.begin_phase("Stand metrics", 0);
  ListedStand stand;
  stand.plot_area_m2 = params.plot.size() < 3 ? 0 : area_of(params.plot);
  stand.cover = crown_cover(
      hulls, {params.plot, params.cover_cell_m, params.most_cover_cells, params.most_overlap_pairs}, ctx);
  stand.competition = competition({bases.data(), bases.size()}, {diameters.data(), diameters.size()},
                                  {params.competition_radius_m, params.plot, params.least_distance_m}, ctx);
  return stand;
}

}  // namespace pc
