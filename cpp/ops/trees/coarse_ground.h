#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "core/vec3.h"
#include "spatial/raster.h"

namespace pc {

/// Edge of the cells of coarse_ground, metres.
constexpr double kCoarseGroundCell = 5;

/// Terrain in cells of 5 m, without voids. RasterSample makes it a continuous surface.
struct CoarseGround {
  RasterFrame frame;
  Column<double> z;  ///< (frame.cells()) metres
};

/// A grid over a box, centred on it: mirrored points then have mirrored cells.
/// Errors   kInvalidArgument for a box that needs more than `most` cells.
RasterFrame centered_frame(const Box3d& box, double cell, std::uint64_t most);

/// Terrain under trees, as coarse as the canopy height model needs it.
///
/// With ground points, the value of a cell is their median (the lower one of an even number). Without, it is the lowest
/// of the lowest returns of its 3 x 3 cells, because not every cell of a dense canopy has a return from the ground; on a
/// slope this lies up to one cell's rise too low. A cell without points takes the value of the nearest cell that has one.
///
/// plants   (n) finite points that are not ground, n > 0, metres, z up
/// ground   (g) finite ground points, same frame; empty = unknown
/// box      of all of them
/// Order    Does not depend on threads or the order of the points.
/// Cost     O(n + g) time, 17 bytes per point. Cancel within 250 ms.
/// Errors   kInvalidArgument: more than 4 M cells (10 km by 10 km).
/// Source   Contract classification section 4.2.
CoarseGround coarse_ground(HitPoints plants, HitPoints ground, const Box3d& box, OpContext& ctx);

}  // namespace pc
