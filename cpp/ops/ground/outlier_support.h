#pragma once
#include "core/memory.h"
#include "core/op_context.h"
#include "ops/ground/ground_constants.h"
#include "ops/ground/lowest_heights.h"

namespace pc {

/// Takes candidates for low outliers back that are no returns below the ground. `first[cell]` is the number of the
/// cell's lowest heights that are candidates; the remaining heights are credible.
///
/// A candidate stays only if it lies below a surface that its neighbourhood supports: the plane of least absolute
/// deviations through the lowest credible heights of the cells around, 8 or more of them.
///
///     noise    Of n returns with Gaussian noise less than one lies sqrt(2 ln n) deviations below the surface, so what is
///              nearer is noise. The deviation is that of these heights from the plane (robust): under plants and between
///              stems a candidate has to be far below. A surface that deviates by at most coherent_cells of a cell is
///              terrain: max_depth below it is enough.
///     hidden   Where cells are smaller than 0.6 m: some ground is seen in most blocks of 2 m. What lies below no line
///              between the lowest credible heights of opposite blocks around it is ground that is hidden nearby.
///
/// Order    Does not depend on threads or the order of the points.
/// Cost     O(cells), and about 3 us per cell with candidates. Cancel within 250 ms.
/// Source   Own.
void keep_supported(const LowestHeights& heights, const LowOutlierConstants& constants, double layer,
                    double point_count, BulkVector<std::uint8_t>& first, OpContext& ctx);

}  // namespace pc
