#include "ops/dem/slope_correction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/column.h"
#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

/// Limits of a gradient: three times the smaller of the differences on the two sides, plus a slope of 0.2.
constexpr double kMostOfSmaller = 3, kAlwaysSlope = 0.2;

/// The row or column of a cell.
struct CellLine {
  std::size_t number, count;  ///< index of the cell on the line; number of cells
  std::size_t step;           ///< from one cell to the next
};

/// Difference and range along one axis from both sides of a cell.
struct Sides {
  double difference;  ///< of z from one cell to the next, limited
  double low, high;   ///< of the neighbours with a value

  Sides(Span<const double> z, std::size_t c, const CellLine& line, double cell) {
    constexpr double kVoid = std::numeric_limits<double>::quiet_NaN();
    const auto [number, count, step] = line;
    const double before = number > 0 ? z[c - step] : kVoid, after = number + 1 < count ? z[c + step] : kVoid;
    const bool has_before = !std::isnan(before), has_after = !std::isnan(after);
    const double down = z[c] - before, up = after - z[c], always = kAlwaysSlope * cell;
    low = std::fmin(before, after);  // NaN if neither neighbour has a value
    high = std::fmax(before, after);
    if (has_before && has_after) {
      // Beside a wall one side is level: the surface bends there, and the wall says nothing about this cell.
      const double most = kMostOfSmaller * std::min(std::abs(down), std::abs(up)) + always;
      difference = std::clamp((down + up) / 2, -most, most);
    } else if (has_after) {
      difference = held(up, number + 2 < count ? z[c + 2 * step] - after : kVoid, always);
    } else if (has_before) {
      difference = held(down, number > 1 ? before - z[c - 2 * step] : kVoid, always);
    } else {
      difference = 0;
    }
  }

 private:
  /// Limits a one-sided difference by the next one behind it, if that has the same sign: it may be a wall or a bad
  /// point.
  static double held(double beside, double behind, double always) {
    const double flatter = beside * behind > 0 ? std::min(std::abs(beside), std::abs(behind)) : 0;  // NaN too
    const double most = kMostOfSmaller * flatter + always;
    return std::clamp(beside, -most, most);
  }
};

/// Value at the centre of a cell whose point has height `own` at `place`.
double at_center(const Sides& x, const Sides& y, const CellPlace& place, double own) {
  const double moved =
      own - x.difference * static_cast<double>(place.x) - y.difference * static_cast<double>(place.y);
  const double low = std::fmin(own, std::fmin(x.low, y.low)),
               high = std::fmax(own, std::fmax(x.high, y.high));
  return std::isfinite(moved) ? std::clamp(moved, low, high) : own;
}

/// One pass: values of the known cells in `to` from the heights of their points, `own`, and the gradients of `from`;
/// other cells are copied from `from`. `own` may be `to`.
void move_to_centers(const PlacedCells& placed, Span<const double> from, Span<const double> own,
                     Span<double> to, OpContext& ctx) {
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
        const Sides x(from, c, {i, nx, 1}, placed.cell), y(from, c, {j, ny, nx}, placed.cell);
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
  move_to_centers(placed, once.view(), z, z, ctx);  // z still holds the points' own values
  fill(z);
}

}  // namespace pc
