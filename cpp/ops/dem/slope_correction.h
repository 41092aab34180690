#pragma once
#include <cstdint>
#include <functional>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/dem/cell_interpolation.h"
#include "ops/dem/cell_percentile.h"

namespace pc {

/// Fills the cells that are not known from those that are.
using CellFill = std::function<void(Span<double> z)>;

/// Takes the values of known cells from the places of their points to the cell centres. A point lies anywhere in its cell:
/// left where it is it puts the surface off by slope times distance, and a low percentile picks the lower side of the
/// cell. Each pass takes the gradient of the filled grid, moves every value along it from the point's place to the
/// centre, and fills again.
///
/// cells   known cells and their hull
/// place   (nx * ny) of the points of known cells
/// z       (nx * ny) metres; in: of these points, the others filled, NaN = void; out: at the centres, filled again
/// fill    as the others were filled
/// Order   Does not depend on threads.
/// Cost    Two passes over the cells; 8 bytes a cell of scratch.
/// Cancel  Within 50 ms, besides `fill`.
/// Errors  None of its own.
/// Source  First-order Taylor expansion about the centre; central differences, one-sided beside voids and the rim of the
///         grid, as in terrain_layers.h. On a plane what is left after a pass is the difference of its neighbours' errors
///         times the place: 0.29 of it, rms. Two passes, and no value beyond its neighbours' and the point's own:
///         measured, docs/adr/0016.
void correct_slopes(const KnownCells& cells, Span<const CellPlace> place, Span<double> z,
                    const CellFill& fill, OpContext& ctx);

}  // namespace pc
