#pragma once
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/trees/convex_polygon.h"

namespace pc {

struct CrownCoverParams {
  ConvexPolygon plot;   ///< crowns outside it do not count as cover; fewer than 3 corners: no plot
  double least_cell_m;  ///< edge of the sample cells of the cover and of overlaps
  double most_cells;    ///< of the plot; larger plots get larger cells
  double most_pairs;    ///< of crowns whose boxes meet, from both sides; with more, overlaps are not measured
};

struct CrownCover {
  double union_area_m2 = 0;        ///< covered by at least one crown, inside the plot
  double cell_m = 0;               ///< cell that measured it
  bool overlap_known = true;       ///< false: too many pairs; the next two are NaN
  std::vector<double> overlap_m2;  ///< (n) sum of the areas shared with each other crown
  std::vector<double>
      overlap_fraction;  ///< (n) share of the crown that lies in at least one other; NaN without a hull
};

/// How much of a plot the crowns of a stand cover, and how far they overlap.
///
/// hulls      (n) convex hulls of crowns, metres; fewer than 3 corners = none
/// Cover      The number of cell centres inside a crown, times the area of a cell: crowns that overlap count once.
/// Overlap    Areas of pairs are exact; the fraction counts cell centres of a grid over the crown's bounding box.
/// Cost       O(cells of the plot and of the crowns' boxes) and O(pairs whose boxes overlap) time; one bit per cell of the
///            plot. Cancel within 50 ms.
/// Order      For any thread count the same bits.
CrownCover crown_cover(const std::vector<ConvexPolygon>& hulls, const CrownCoverParams& params,
                       OpContext& ctx);

}  // namespace pc
