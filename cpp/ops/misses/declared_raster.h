#pragma once
#include "core/column.h"
#include "core/op_context.h"
#include "ops/misses/scan_raster.h"

namespace pc {

/// The raster that a static scanner was set to.
struct DeclaredScan {
  Vec3d origin;                     ///< scanner, metres, frame of the points
  Vec3d right, ahead, up;           ///< unit vectors of the scanner's x, y and z, frame of the points
  std::uint32_t rows, columns;      ///< zenith rows and azimuth columns, >= 2
  double theta_min_rad, theta_max_rad;  ///< zenith from `up`
  double phi_min_rad, phi_max_rad;      ///< azimuth from `ahead` towards `right`
};

/// How scanners number the same angles.
struct RasterConvention {
  bool theta_centred;  ///< rows are the middles of equal parts of the span; else the first and the last row are its ends
  bool phi_open;       ///< columns are span / columns apart; else the first and the last column are its ends
  bool drifts;         ///< the azimuth advances by one column during a column
};

struct DeclaredRaster {
  ScanRaster raster;
  Column<std::uint32_t> row, column;  ///< (n) cell of each point; 0xFFFFFFFF: off the raster
  RasterConvention convention;        ///< the one that the points lie on best
  std::uint64_t off_count;            ///< points off the raster
};

/// The raster of a scan from its settings, and the cell of each of its points.
///
/// positions  (n) metres, returns; those at the scanner and those that are not finite are off the raster
/// Order      A function of the input alone, for any thread count.
/// Cost       O(n); 8 bytes per point. Cancel within 50 ms.
/// Errors     kInvalidArgument: settings out of range; points that do not sit on the raster: half of them 0.2 steps or more from
///            a row or from a column, or 5 % of them or more off it. The message names the settings.
/// Source     contract sessions 14, route 3, whose limit of 0.25 is what a wrong number of rows gives. The settings do not say whether a span includes its ends, nor whether the head
///            turns during a column (the scans of Helios do, docs/accuracy.md): the convention with the smallest median residual
///            over a sample is taken.
DeclaredRaster declared_raster(Span<const Vec3d> positions, const DeclaredScan& scan, OpContext& ctx);

}  // namespace pc
