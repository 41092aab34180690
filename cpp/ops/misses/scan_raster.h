#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Cell of a scan's raster: the row counts the zenith, the column the azimuth.
struct RasterCell {
  std::uint32_t row, column;
};

/// Returns with their cells.
struct RasterReturns {
  Span<const Vec3d> positions;   ///< (n) metres
  Span<const RasterCell> cells;  ///< (n)
  Vec3d origin;                  ///< scanner, frame of the positions
  std::uint32_t rows, columns;   ///< size of the raster
  double most_residual = 0.25;   ///< steps
};

/// Directions of the pulses of a static scanner, row by row and column by column, from those that returned.
struct ScanRaster {
  Vec3d axis, first, second;       ///< frame of the rotation: unit vectors at right angles
  std::vector<double> zenith_rad;  ///< (rows) angle from the axis
  std::vector<double>
      row_azimuth_rad;              ///< (rows) added to the azimuth of a column: the head turns during a row
  std::vector<double> azimuth_rad;  ///< (columns) angle about the axis from `first` to `second`
  double zenith_step_rad,
      azimuth_step_rad;  ///< medians of the steps from row to row and from column to column
  double
      median_residual;  ///< median distance of a return from its cell's direction, in steps of rows and columns
  std::uint64_t fitted_rows,
      fitted_columns;  ///< rows and columns with enough returns; the others are interpolated

  /// Unit vector.
  Vec3d direction(std::uint32_t row, std::uint32_t column) const;
};

/// Fits the raster of a scan: rows are cones about the axis of rotation, columns turn about it. The axis is found too, so the
/// scanner may stand tilted; of a window too narrow to show its axis, z is taken.
///
/// returns  Returns at the scanner and those that are not finite are ignored
/// Order    A function of the returns alone, for any thread count.
/// Cost     O(n) expected; 40 bytes per return and 24 per row and column. Cancel within 50 ms.
/// Errors   kInvalidArgument: cells outside the raster, fewer than 2 rows with 4 returns each, fewer than 2 columns with
///          returns, a median residual above most_residual.
/// Source   contract lad 5.2, sessions 14 (median per row, robust azimuth per column). Here the azimuth is a sum of a row's and
///          a column's share, by alternating medians (median polish: Tukey 1977, Exploratory Data Analysis, chapter 11). Rows and
///          columns without returns lie on the line between their neighbours, beyond the last ones with the median step. Axis:
///          the direction along which the returns of single rows differ least (smallest eigenvalue of their scatter).
ScanRaster fit_scan_raster(const RasterReturns& returns, OpContext& ctx);

}  // namespace pc
