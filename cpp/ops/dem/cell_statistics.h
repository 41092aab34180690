#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "spatial/raster.h"

namespace pc {

struct CellCounts {
  Column<std::uint32_t> counts;    ///< (cells) points in the cell
  Column<std::uint8_t> footprint;  ///< (cells) 1 = the cell contains a point
};

/// Number of points in each cell; `skip` (n) non-zero = leave out, or empty = keep all. Points outside the grid and
/// points that are not finite are left out. Does not depend on threads. Cancel within 50 ms.
CellCounts cell_counts(Span<const Vec3d> points, Span<const std::uint8_t> skip, const RasterFrame& frame,
                       OpContext& ctx);

/// Unit of stored values: value = stored / divisor + offset.
struct ValueUnits {
  double divisor, offset;
};

/// Mean of a value over the points of each cell, NaN for cells without points; values that are not finite do not count.
///
/// values   (n) stored values, any scalar type
/// Order    Does not depend on threads or the order of the points: sums are whole multiples of 2^-k, with the largest k
///          that keeps them below 2^62; for a billion points the step is 2^-31 of the largest value.
/// Cost     O(n + cells) time: two passes over the points; 12 bytes of scratch per cell. Cancel within 50 ms.
/// Errors   kInvalidArgument: frame out of range, wrong number of values.
Column<float> cell_means(Span<const Vec3d> points, Span<const std::uint8_t> skip, const AnyColumn& values,
                         const ValueUnits& units, const RasterFrame& frame, OpContext& ctx);

struct ValueRange {
  double min, max;  ///< of the finite values; 0 and 1 if there are none
};

/// A layer of a raster for display.
struct CellLayer {
  Column<float> grid;         ///< (cells)
  Column<float> at_vertices;  ///< (V) values of the cells of a mesh's vertices
  ValueRange range;           ///< of the grid
};

/// A grid of any scalar type as float32, with NaN for cells without a value (count 0 in a grid of whole numbers), and
/// its values at given cells. Errors: kInvalidArgument for a cell beyond the grid. Cancel within 50 ms.
CellLayer cell_layer(const AnyColumn& grid, Span<const std::uint32_t> cell, OpContext& ctx);

}  // namespace pc
