#pragma once
#include "core/column.h"
#include "core/op_context.h"
#include "ops/misses/scan_raster.h"

namespace pc {

/// Distance from the scanner at which recovered misses are placed, metres.
inline constexpr double kRecoveredMissRange_m = 20'000;

/// Pulses that came back with nothing, by row, then by column.
struct RecoveredMisses {
  Column<Vec3d> positions;             ///< (M) metres, kRecoveredMissRange_m from the scanner
  Column<float> directions;            ///< (M, 3) radius (m), elevation asin(dz / r), bearing atan2(dx, dy), radians
  Column<std::uint32_t> row_index;     ///< (M)
  Column<std::uint32_t> column_index;  ///< (M)
};

/// The empty cells of a raster as misses.
///
/// raster    of the scan
/// occupied  (n) cells whose pulses returned something, deleted returns included: a deleted point is no miss
/// origin    scanner, metres; the misses are in its frame
/// Order     A function of the input alone, for any thread count.
/// Cost      O(n + cells); 1 bit per cell and 44 bytes per miss. Cancel within 50 ms.
/// Errors    kInvalidArgument: cells outside the raster, an origin that is not finite, 2^32 cells or more.
/// Source    contract sessions 14.
RecoveredMisses gap_fill(const ScanRaster& raster, Span<const RasterCell> occupied, const Vec3d& origin,
                         OpContext& ctx);

}  // namespace pc
