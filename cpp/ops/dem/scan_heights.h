#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/raster.h"

namespace pc {

/// How high the ground lies in one scan above another.
struct ScanHeight {
  double scan_a, scan_b;  ///< values of the column, scan_a < scan_b
  std::uint64_t cells;    ///< with points of both
  double z_m;             ///< median of b - a
  double spread_m;        ///< 1.48 times the median distance from it
};

/// Of a cloud of more scans, or flight lines, no heights are compared.
constexpr std::size_t kMostComparedScans = 64;
/// Fewer common cells mean little, and so do cells with fewer points of a scan.
constexpr std::uint64_t kFewestCommonCells = 30, kFewestCellPoints = 3;

/// Vertical registration of scans or flight lines: compares the mean heights of their ground points in common cells,
/// with the slope of the ground between their mean places taken out.
///
/// positions  (n) metres; rows with a coordinate that is not finite, and rows that `skip` marks (non-zero), count
///            nowhere
/// scans      (n) scalar; not finite: the row counts nowhere
/// frame      whose cells are joined to blocks of at least 0.5 m, and to so many that 2 million entries hold all scans
/// Result     pairs with kFewestCommonCells common blocks; ascending. Nothing for one scan or more than
///            kMostComparedScans.
/// Slope      That of the plane through the mean places of the blocks around, of all scans: least squares, drawn
///            towards level where they are few or lie on a line.
/// Steps      Blocks in which the mean places of either scan, and those around, scatter about that plane by more than a fifth of
///            the block are left out: of walls, terraces and cliffs one scan sees the foot and another the top.
/// Order      The same for any thread count and order of the rows: coordinates are summed in whole micrometres.
/// Cost       Two passes over the rows; up to 120 MB. Cancel within 250 ms.
/// Errors     kInvalidArgument for columns of different lengths, those of check_raster.
/// Source     The difference of overlapping strips, as in the quality control of airborne scans (e.g. Vosselman &
///            Maas 2010, section 3.4).
std::vector<ScanHeight> scan_heights(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                                     const AnyColumn& scans, const RasterFrame& frame, OpContext& ctx);

}  // namespace pc
