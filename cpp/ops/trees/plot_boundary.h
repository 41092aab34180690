#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "ops/trees/convex_polygon.h"

namespace pc {

/// Where a plane was seen: square cells with points, of 2.5 m or a multiple of it.
class SeenCells {
 public:
  /// A point that is not finite is left out. Cost: O(1), and now and then the sorting of the last 2^16 cells.
  void add(const Vec2d& point, const OpContext& ctx);

  /// Share of a polygon that lies in cells with points, 0..1; gaps of up to two cells, as between trees, count as seen
  /// (morphological closing). 1 for polygons of fewer than 20 cells. Sparse points get cells of two of their distances.
  double share_of(const ConvexPolygon& polygon, const OpContext& ctx);

 private:
  void merge(const OpContext& ctx);

  std::vector<std::uint64_t> cells_,
      pending_;                        ///< y above x; cells_: ascending; pending_: not yet part of them
  std::vector<std::uint64_t> recent_;  ///< some cells that were added before, by hash
  int doublings_ = 0;                  ///< of the edge of the cells
  std::uint64_t point_count_ = 0;
};

enum class PlotSource : std::uint8_t { kGroundClass, kAllPoints, kNone };

/// What a plot can be told from, besides the cells with points.
struct PlotEvidence {
  ConvexPolygon ground, all;  ///< hulls of the ground points and of all points; fewer than 3 corners: none
  std::vector<Vec2d> bases;   ///< of trees, finite
  std::vector<ConvexPolygon> crowns;  ///< of trees that have one
};

struct PlotBoundary {
  ConvexPolygon polygon;  ///< at most 720 corners; fewer than 3 = none
  PlotSource source;
  double area_m2;  ///< of the polygon
  double
      seen_share;  ///< of the polygon, or of the hull that is none because too little of it was seen; NaN without a hull
  double
      ground_share;  ///< of bases or, if less, crown area above the hull of the ground; NaN without trees or ground
  bool ground_refused;  ///< too few trees stand on the ground: its hull is not the plot
};

/// The plot that trees stand on: the hull of the ground points if nine of ten trees stand inside and half of their crown
/// area lies above it, else the hull of all points. Where the ground is only seen at the feet of stems, its hull runs
/// through the outer trees and values per area are too large. Less than half of the hull seen: there is no plot, because
/// values per area of a hull that is mostly empty are too small.
/// Cost     O(cells), at most 2^16 of them, and O(trees).
/// Source   ours. Of a plot that is cut out of a forest, crowns at the edge lie outside, stems do not.
PlotBoundary plot_boundary(const PlotEvidence& evidence, SeenCells& seen, const OpContext& ctx);

}  // namespace pc
