#pragma once
#include "core/span.h"
#include "spatial/lattice.h"

namespace pc {

/// Slope of the plane that the terrain follows as a whole, metres per metre.
struct GroundTrend {
  double slope_x, slope_y;
};

/// Fits the trend to the lowest heights of cells: the plane with the least weighted absolute deviations from the
/// lowest of at most 64 x 64 blocks of cells, where deviations above the plane weigh a third of those below. Filters
/// use heights above this plane, so that a sheared or tilted cloud gets the same labels as the level one.
///
/// lowest   (lattice.cells()) heights, NaN = none; on a lattice without a trend of its own
/// Order    Sequential, in cell order. Cost O(cells) + 30 solutions of a 3 x 3 system.
/// Source   Regression quantile 0.25 (Koenker & Bassett 1978) by iteratively reweighted least squares. Slopes
///          beyond 5 (79 degrees) are no terrain and count as 0.
GroundTrend fit_trend(const Lattice& lattice, Span<const float> lowest);

}  // namespace pc
