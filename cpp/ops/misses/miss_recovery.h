#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "ops/misses/declared_raster.h"

namespace pc {

/// How the pulses of a scan are told.
enum class MissRoute : std::uint8_t {
  kClock,     ///< by their times
  kGrid,      ///< by the row and column of each return
  kDeclared,  ///< by the settings of the scanner
};

/// The rows of a scan. Returns that the user deleted count; rows at the scanner or not finite are no returns.
struct ScanRows {
  Span<const Vec3d> positions;    ///< (n) metres
  Span<const std::uint8_t> skip;  ///< (n) non-zero = no return; empty = all are
  Span<const double> times_s;     ///< (n) or empty; kClock needs them
  const AnyColumn* row_index;     ///< (n) whole numbers, below 0 = none; kGrid needs both
  const AnyColumn* column_index;
};

struct MissRecoveryParams {
  MissRoute route;
  DeclaredScan scan;        ///< rows and columns 0: not declared, as kClock and kGrid allow
  std::uint64_t max_cells;  ///< largest raster
  bool moved =
      false;  ///< by the clock: noise of the places moves returns near the scanner across their pulses
};

/// Pulses that came back with nothing, by row, then by column.
struct MissRecovery {
  Column<Vec3d> positions;  ///< (M) metres, kRecoveredMissRange_m from the scanner
  Column<double> times_s;   ///< (M) seconds; empty if the returns have no times, and with kDeclared
  Column<std::uint32_t> row_index, column_index;  ///< (M) cell of the raster
  std::uint32_t rows, columns;                    ///< size of the raster
  std::uint64_t return_count;                     ///< returns that were used
  std::uint64_t off_count;  ///< returns without a cell: no row or column, or off the raster
  double median_residual;   ///< median distance of a return from its cell's direction, in steps
};

/// Finds the raster of a static scan by one of three routes and returns its empty cells as misses.
///
/// rows      of one scanner position; a moving scanner's in its own frame
/// Order     A function of the rows alone, for any thread count.
/// Cost      O(n + cells); 110 bytes per return, 44 per miss. Cancel within 250 ms.
/// Errors    kInvalidArgument: those of clocked_raster, fit_scan_raster, declared_raster and fit_cell_times; columns that the
///           route needs and that are not there; a raster of more than max_cells; no return.
/// Source    contract sessions 14. Own: kClock adds lines without returns up to the azimuth limits, if these are less than a
///           turn.
MissRecovery recover_misses(const ScanRows& rows, const MissRecoveryParams& params, OpContext& ctx);

}  // namespace pc
