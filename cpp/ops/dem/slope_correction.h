#pragma once
#include <cstdint>
#include <functional>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/dem/cell_interpolation.h"
#include "ops/dem/cell_percentile.h"

namespace pc {

/// Known cells, and where the points lie that their values are of.
struct PlacedCells {
  const KnownCells& cells;
  Span<const CellPlace> place;  ///< (nx * ny)
  double cell;                  ///< metres
};

/// Fills the cells that are not known from those that are.
using CellFill = std::function<void(Span<double> z)>;

/// Takes the values of known cells from the places of their points to the cell centres. A point lies anywhere in its
/// cell: left where it is it puts the surface off by slope times distance, and a low percentile picks the lower side of
/// the cell. Each pass takes the gradient of the filled grid, moves every value along it from the point's place to the
/// centre, and fills again. Two passes.
///
/// z       (nx * ny) metres; in: of the points, the others filled, NaN = void; out: at the centres, filled again
/// fill    as the others were filled
/// Order   Does not depend on threads.
/// Cost    O(cells), two fills; 8 bytes a cell of scratch.
/// Cancel  Within 50 ms, besides `fill`.
/// Errors  kInvalidArgument: another number of places or values.
/// Source  First-order Taylor expansion about the centre with central differences, one-sided beside voids and the rim
///         of the grid. On a plane a pass leaves the difference of the neighbours' errors times the place, 0.29 of it,
///         rms. Along each axis a gradient is at most three times the smaller of its sides plus 0.2. The other side of
///         a one-sided one is the next difference away from the rim; 0.2 is all where that has the other sign or is not
///         there. No value leaves the range of its own point and its four neighbours. These and the passes are
///         measured, docs/adr/0016.
void correct_slopes(const PlacedCells& placed, Span<double> z, const CellFill& fill, OpContext& ctx);

}  // namespace pc
