#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "ops/misses/scan_raster.h"

namespace pc {

/// Returns of a static scan with their times; returns of one pulse share theirs.
struct TimedReturns {
  Span<const Vec3d> positions;  ///< (n) metres
  Span<const double> times_s;   ///< (n) any order
  Vec3d origin;                 ///< scanner, frame of the positions
  Vec3d up;                     ///< unit vector of its axis, from which the zenith counts
};

/// The raster that the pulse clock of a scan gives: lines of pulses with a constant period, swept in zenith.
struct ClockedRaster {
  BulkVector<RasterCell> cells;  ///< (n) cell of each return: row = pulse in its line, column = line
  std::uint32_t rows, columns;   ///< pulses per line within the zenith limits, lines
  std::uint32_t
      pulses_per_line;  ///< those outside the limits included: the mirror flies back, the head turns on
  double period_s;      ///< from pulse to pulse
  double start_s;  ///< time of the pulse of cell (0, 0); that of (row, column) is period_s (row + column *
                   ///< pulses_per_line) later
};

/// Finds the pulse period, the pulses per line and the cell of each return from the times of the returns.
///
/// returns    of a scanner whose lines begin with a whole number of pulses between them
/// theta_min_rad, theta_max_rad  limits of the sweep in zenith: rows without any return are added up to them
/// Order      A function of the returns alone, for any thread count.
/// Cost       A radix sort of the times and streaming passes; 60 bytes per return. Cancel within 250 ms.
/// Errors     kInvalidArgument: times that are not finite or do not fit a period, no lines, lines that are no whole number
///            of pulses apart or do not repeat in zenith to half a step, 2^32 cells or more.
/// Source     contract lad 5.2 and sessions 14, route 1. Own: pulse index minus zenith / step is constant within a line and
///            grows by the pulses per line from one to the next. Where the zenith scatters (noise near a scanner that moves),
///            the least number of pulses up to 20,000 after which it comes back, if that fits as well.
ClockedRaster clocked_raster(const TimedReturns& returns, double theta_min_rad, double theta_max_rad,
                             OpContext& ctx);

}  // namespace pc
