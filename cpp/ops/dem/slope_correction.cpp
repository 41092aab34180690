#include "ops/dem/slope_correction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/column.h"
#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

/// A gradient is taken for one where its sides agree so far: three times the smaller, or a slope of 0.2.
constexpr double kMostOfSmaller = 3, kAlwaysSlope = 0.2;

/// What both sides of a cell say along one axis.
struct Sides {
  double difference;  ///< of z from one cell to the next
  double low, high;   ///< of those that are there

  Sides(double before, double here, double after, double cell) {
    const bool has_before = !std::isnan(before), has_after = !std::isnan(after);
    const double down = has_before ? here - before : 0, up = has_after ? after - here : 0;
    low = std::fmin(before, after);  // NaN where neither is there
    high = std::fmax(before, after);
    difference = down + up;
    if (!has_before || !has_after) return;
    // Beside a wall one side is level: the surface bends there, and what lies behind says nothing about this cell.
    const double most = kMostOfSmaller * std::min(std::abs(down), std::abs(up)) + kAlwaysSlope * cell;
    difference = std::clamp(difference / 2, -most, most);
  }
};

/// Value at the centre of a cell whose point has z `own` at `place`.
double at_center(const Sides& x, const Sides& y, const CellPlace& place, double own) {
  const double moved =
      own - x.difference * static_cast<double>(place.x) - y.difference * static_cast<double>(place.y);
  const double low = std::fmin(own, std::fmin(x.low, y.low)),
               high = std::fmax(own, std::fmax(x.high, y.high));
  return std::isfinite(moved) ? std::clamp(moved, low, high) : own;
}

/// One pass: values of known cells of `to` from those of their points, `own`, and the gradients of `from`; the others as
/// they are in `from`. `own` may be `to`.
void move_to_centers(const PlacedCells& placed, Span<const double> from, Span<const double> own,
                     Span<double> to, OpContext& ctx) {
  constexpr double kVoid = std::numeric_limits<double>::quiet_NaN();
  const KnownCells& cells = placed.cells;
  const std::size_t nx = cells.nx, ny = cells.ny;
  parallel_for(ctx, ny, 1 + 65536 / nx, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      for (std::size_t i = 0; i < nx; ++i) {
        const std::size_t c = j * nx + i;
        if (cells.known[c] == 0) {
          to[c] = from[c];
          continue;
        }
        const Sides x(i > 0 ? from[c - 1] : kVoid, from[c], i + 1 < nx ? from[c + 1] : kVoid, placed.cell);
        const Sides y(j > 0 ? from[c - nx] : kVoid, from[c], j + 1 < ny ? from[c + nx] : kVoid, placed.cell);
        to[c] = at_center(x, y, placed.place[c], own[c]);
      }
    }
  });
}

}  // namespace

void correct_slopes(const PlacedCells& placed, Span<double> z, const CellFill& fill, OpContext& ctx) {
  require(placed.place.size == placed.cells.size() && z.size == placed.cells.size(),
          "one place and one value per cell are needed");
  Column<double> once(z.size);
  move_to_centers(placed, z, z, once.view(), ctx);
  fill(once.view());
  move_to_centers(placed, once.view(), z, z, ctx);  // z holds the points' own values until then
  fill(z);
}

}  // namespace pc
