#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/trees/coarse_ground.h"
#include "spatial/raster.h"

namespace pc {

/// Standard deviation of the smoothing, cells.
constexpr double kCanopySmoothing = 1;

/// Smoothed heights of a canopy above the terrain.
///
///   1. the greatest height above ground of the points of each cell; 0 where only ground was hit
///   2. pits narrower than three cells are closed (pit_fill.h)
///   3. an empty cell at most max(1 m, 2 cells) from one that is not takes the height of the nearest
///   4. Gaussian of one cell, cut at four cells, over the cells with a height
///   5. rounded to 2^-20 m, so that rounding errors do not divide a flat top
///   6. cells that were lower than `least` before step 4, or are ground by step 1 or 3, are no canopy: void
///
/// Where returns from the ground were left out, a crown would grow into all empty cells within 1 m around it, in sectors of
/// the heights of its outermost points, and each of the higher ones would look like a treetop.
///
/// points   (n) finite points that are not ground, metres, z up, all within the frame
/// seen     (g) finite points of the ground; those outside the frame are not used
/// least    of the canopy, metres
/// Returns  (frame.cells()) metres, at edges also below `least`; NaN = lower, ground, or no points nearby
/// Order    Does not depend on threads or the order of the points; a mirrored grid has mirrored heights, except where
///          two cells are equally near in step 3.
/// Cost     O(n + g + cells) time; 41 bytes per cell. Cancel within 250 ms.
/// Source   Contract classification section 4.2; ground as heights of 0 and as no canopy: own (ADR 57). The Gaussian is normalised over the cells with a height (Knutsson &
///          Westin 1993, "Normalized and differential convolution"), so that gaps and edges do not lower the canopy.
Column<double> canopy_model(HitPoints points, HitPoints seen, const CoarseGround& ground,
                            const RasterFrame& frame, double least, OpContext& ctx);

}  // namespace pc
