#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/raster.h"

namespace pc {

/// Which points of a cell a surface follows.
enum class SurfaceSide : std::uint8_t { kHighest, kLowest };

struct LoneReturns {
  Column<std::uint8_t> skip;  ///< (n) 1 = left out by `rows`, or alone
  std::uint64_t count;        ///< rows that are alone
};

/// Finds the highest (lowest) points of cells that stand alone, as birds, clouds, drops and noise do above a canopy and
/// multiple reflections below the ground: a surface of the top (bottom) of the cells follows them.
///
/// positions  (n) metres, z up; rows that are not finite count nowhere
/// skip       (n) non-zero = the row counts nowhere, or empty
/// rows       (n) non-zero = not of the surface, but company for those that are, or empty
/// frame      of the surface
/// Alone      Fewer than two other points lie within 2 m, and within 8 times the spacing of the surface's rows there, seen from above:
///            the root of the area per row in the smallest square of 3, 5, 9, 17 ... cells with nine rows. In a frame with
///            fewer rows none is.
/// Repeats    Without them the next point of the cell is looked at, up to 3 times; what is alone is company still.
/// Order      The same for any thread count. Of equally high points of a cell the first row is looked at.
/// Cost       A pass over the points for the spacing, one or two per repeat, more where the spacing varies by powers of two; 192 bytes per
///            cell at most. Cancel within 250 ms.
/// Errors     kInvalidArgument for masks of another length, those of check_raster.
/// Source     Ours. In each of 21 airborne scans, with cells of 1 m, up to 13 returns stand alone, of ISPRS samples up to 45 m above all
///            around them; in eight plots scanned from the ground none (docs/accuracy.md).
LoneReturns lone_returns(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                         Span<const std::uint8_t> rows, const RasterFrame& frame, SurfaceSide side,
                         OpContext& ctx);

}  // namespace pc
