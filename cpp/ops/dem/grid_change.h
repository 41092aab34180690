#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// How a grid differs from another one.
struct GridChange {
  std::uint64_t cells;  ///< that have a value in both and more than `above` in the first
  double mean_value;    ///< of the first in these cells; NaN without any
  double mean_change;   ///< of first - second; NaN without any
  double rms_change;
};

/// Compares the values of two grids of one frame.
///
/// first, second  (cells) NaN = void
/// above    cells whose first value is not above it count nowhere
/// Order    Does not depend on the thread count. Cost O(cells). Cancel within 50 ms.
/// Errors   kInvalidArgument: grids of different sizes.
GridChange grid_change(Span<const double> first, Span<const double> second, double above, OpContext& ctx);

/// Cells in which a grid differs much from another one.
struct GridJumps {
  std::uint64_t cells;    ///< with a value in both
  std::uint64_t changed;  ///< of these, by more than `least`
  double largest;         ///< difference, without its sign; 0 without cells
  std::uint64_t cell;     ///< the first one with it
};

/// Counts the cells in which two grids of one frame differ by more than `least`. NaN, order, cost and errors as above.
GridJumps grid_jumps(Span<const double> first, Span<const double> second, double least, OpContext& ctx);

}  // namespace pc
