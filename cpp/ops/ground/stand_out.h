#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/ground/ground_cells.h"
#include "ops/ground/ground_constants.h"

namespace pc {

/// What ground points are judged by: the cells, planes through them, and the threshold of the class, metres.
struct StandOutSurface {
  const Lattice& lattice;
  const GroundCells& cells;
  const BulkVector<CellPlane>& planes;
  double threshold_m;
};

/// Takes the label from ground points that stand out of the ground around them: low plants, fences and the edges of
/// bridges that the surface passes through because their own cell is a part of it.
///
/// A cell is judged by the others: by a plane through the lowest and the highest ground point of each cell next to it,
/// or within 2 cells where these are fewer than 12. Points far from the plane weigh less (four rounds), and what is left
/// is their scatter. A point more than the threshold and out_deviations scatters above the plane is a plant. On faces and
/// rough slopes the scatter is large, so that nothing is taken there. Cells whose highest ground point lies less than
/// out_share thresholds above their own plane are not looked at, nor cells with fewer than 6 points around them.
///
/// ground_class  (n) GroundClass per point; changed in place
/// Returns  how many points became plants.
/// Order    Does not depend on threads or the order of the points.
/// Cost     Three passes over the points; 28 bytes per cell, 1 us per cell that is looked at.
/// Cancel   Within 50 ms; the labels are then partly changed.
/// Source   Own; weights of residuals as in Beaton & Tukey 1974 (Technometrics 16(2), 147-185), with Cauchy's function.
std::uint64_t drop_points_that_stand_out(HitPoints points, const StandOutSurface& surface,
                                         const GroundConstants& constants, Column<std::uint8_t>& ground_class,
                                         OpContext& ctx);

}  // namespace pc
