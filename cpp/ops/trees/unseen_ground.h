#pragma once
#include "core/op_context.h"
#include "ops/trees/convex_polygon.h"
#include "ops/trees/tree_inventory.h"

namespace pc {

/// Share of a plot, 0..1, on which no point lies lower than 2 m above the ground, by square cells: no beam came down there, as
/// behind the stems of a plot that was scanned from one place. Stems on it are hidden, too, so that values per area are too
/// small by about as much at most (docs/accuracy.md, "Stems that no scan saw").
///
/// NaN where nothing can be said: without heights, with cells of over 1 m, and with fewer than 100 cells.
/// Cells    of 0.5 m, or a multiple by a power of two: at least two distances between the low points, so that points at
///          random places leave one cell in 55 empty; at most 2^24 of them.
/// Cost     O(n) time by all threads, a byte per cell. Cancel within 50 ms.
/// Order    The same bits for any thread count and order of the rows.
double unseen_ground(const TreeCloud& cloud, const ConvexPolygon& plot, OpContext& ctx);

}  // namespace pc
