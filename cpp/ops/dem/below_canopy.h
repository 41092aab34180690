#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/vec3.h"

namespace pc {

/// How far a scan saw through closed canopy, by square cells.
struct BelowCanopy {
  double cell = 0;           ///< edge of the cells, metres
  std::uint64_t cells = 0;   ///< with a point
  std::uint64_t closed = 0;  ///< of these: in canopy on all sides
  std::uint64_t seen = 0;    ///< of the closed ones: with a point below the canopy
};

/// Counts the cells of closed canopy and those of them in which something was seen below it. Of a laser scan most are seen; of points
/// made of photos none: they are a surface with one height at each place, and terrain below it is a guess.
///
/// positions  (n) metres, z up; skip (n or empty): non-zero = no part
/// heights    (n) above the terrain, metres; rows that are not finite take no part
/// Closed     a cell whose highest point is more than 2 m above the terrain, as are those of its eight neighbours, and lies a fifth of the
///            edge and more beside the line between two opposite ones: roofs do not count. Something was seen below where a point
///            is less than half as high as the lowest of these nine: in a surface without jumps none is.
/// Cells      of 0.5 m times a power of two: so that those with a point have six in the mean, and there are at most 2^22.
/// Order      The same for any thread count and order of the rows.
/// Cost       O(n) time by all threads; nine bytes a cell. Cancel within 50 ms.
/// Errors     kInvalidArgument: heights or skip of another length, heights that are no numbers.
BelowCanopy below_canopy(Span<const Vec3d> positions, Span<const std::uint8_t> skip, const AnyColumn& heights,
                         OpContext& ctx);

}  // namespace pc
