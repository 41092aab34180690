#include "ops/dem/slope_correction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/column.h"
#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

/// What both sides of a cell say along one axis.
struct Sides {
  double difference;  ///< of z from one cell to the next
  double low, high;   ///< a side that is not there counts as if the surface went on

  Sides(double before, double here, double after) {
    if (std::isnan(before)) before = std::isnan(after) ? here : 2 * here - after;
    if (std::isnan(after)) after = 2 * here - before;
    difference = (after - before) / 2;
    low = std::min(before, after);
    high = std::max(before, after);
  }
};

/// Value at the centre of a cell whose point has z `own` at `place`.
double at_center(const Sides& x, const Sides& y, const CellPlace& place, double own) {
  const double moved =
      own - x.difference * static_cast<double>(place.x) - y.difference * static_cast<double>(place.y);
  // At the foot of a wall the gradient belongs to neither side of it.
  const double low = std::min({own, x.low, y.low}), high = std::max({own, x.high, y.high});
  return std::isfinite(moved) ? std::clamp(moved, low, high) : own;
}

/// One pass: values of known cells of `to` from those of their points, `own`, and the gradients of `from`; the others as
/// they are in `from`. `own` may be `to`.
void move_to_centers(const KnownCells& cells, Span<const CellPlace> place, Span<const double> from,
                     Span<const double> own, Span<double> to, OpContext& ctx) {
  constexpr double kVoid = std::numeric_limits<double>::quiet_NaN();
  const std::size_t nx = cells.nx, ny = cells.ny;
  parallel_for(ctx, ny, 1 + 65536 / nx, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      for (std::size_t i = 0; i < nx; ++i) {
        const std::size_t c = j * nx + i;
        if (cells.known[c] == 0) {
          to[c] = from[c];
          continue;
        }
        const Sides x(i > 0 ? from[c - 1] : kVoid, from[c], i + 1 < nx ? from[c + 1] : kVoid);
        const Sides y(j > 0 ? from[c - nx] : kVoid, from[c], j + 1 < ny ? from[c + nx] : kVoid);
        to[c] = at_center(x, y, place[c], own[c]);
      }
    }
  });
}

}  // namespace

void correct_slopes(const KnownCells& cells, Span<const CellPlace> place, Span<double> z,
                    const CellFill& fill, OpContext& ctx) {
  require(place.size == cells.size() && z.size == cells.size(),
          "one place and one value per cell are needed");
  Column<double> once(z.size);
  move_to_centers(cells, place, z, z, once.view(), ctx);
  fill(once.view());
  move_to_centers(cells, place, once.view(), z, z, ctx);  // z holds the points' own values until then
  fill(z);
}

}  // namespace pc
