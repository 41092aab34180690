#pragma once
#include <cstdint>
#include <functional>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/dem/cell_interpolation.h"
#include "ops/dem/cell_percentile.h"

namespace pc {

/// Known cells and the places of the points that their values come from.
struct PlacedCells {
  const KnownCells& cells;
  Span<const CellPlace> place;  ///< (nx * ny)
  double cell;                  ///< metres
};

/// Fills the unknown cells from the known ones.
using CellFill = std::function<void(Span<double> z)>;

/// Slope correction: moves the values of known cells from the places of their points to the cell centres. Uncorrected,
/// a value is off by slope times the distance of its point from the centre, and a low percentile prefers the lower side
/// of a cell. Each of two passes computes the gradient of the filled grid, moves every value along it from the place of
/// its point to the centre, and fills the unknown cells again.
///
/// z       (nx * ny) metres, NaN = void; in: known cells from their points, others filled; out: at the centres,
///         refilled
/// fill    the function that filled the unknown cells
/// Order   Does not depend on threads.
/// Cost    O(cells), two fills; 8 bytes of scratch per cell.
/// Cancel  Within 50 ms, apart from `fill`.
/// Errors  kInvalidArgument: wrong number of places or values.
/// Source  First-order Taylor expansion about the centre with central differences, one-sided beside voids and at the
///         rim of the grid. On a plane a pass leaves an error of the place times the difference of the neighbours'
///         errors: 0.29 of it, rms. Along each axis the gradient is limited to three times the smaller of the
///         differences on the two sides, plus 0.2. For a one-sided difference the next difference away from the rim
///         replaces the missing side; if that has the other sign or does not exist, the limit is 0.2. No value leaves
///         the range of its own point and its four neighbours. These limits and the number of passes are measured,
///         docs/adr/0016.
void correct_slopes(const PlacedCells& placed, Span<double> z, const CellFill& fill, OpContext& ctx);

}  // namespace pc
