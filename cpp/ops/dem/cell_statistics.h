#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "spatial/raster.h"

namespace pc {

struct CellCounts {
  Column<std::uint32_t> counts;    ///< (cells) points in the cell
  Column<std::uint8_t> footprint;  ///< (cells) 1 where there is one
};

/// How many points each cell holds; `skip` (n) non-zero = leave out, or empty = keep all. Points beside the grid and
/// those that are not finite are left out. Does not depend on threads. Cancel within 50 ms.
CellCounts cell_counts(Span<const Vec3d> points, Span<const std::uint8_t> skip, const RasterFrame& frame,
                       OpContext& ctx);

/// Mean of a value over the points of each cell, NaN where it has none; values that are not finite do not count.
///
/// values   (n) any scalar type, divided by `divisor`
/// Order    Does not depend on threads or the order of the points: sums in whole steps of 2^-k, the finest with which
///          they stay below 2^62; for a billion points that is 2^-31 of the largest value.
/// Cost     Two passes over the points; 12 bytes a cell of scratch. Cancel within 50 ms.
/// Errors   kInvalidArgument: frame out of range, another number of values.
Column<float> cell_means(Span<const Vec3d> points, Span<const std::uint8_t> skip, const AnyColumn& values,
                         double divisor, const RasterFrame& frame, OpContext& ctx);

struct ValueRange {
  double min, max;  ///< of the finite values; 0 and 1 when there is none
};

/// A layer of a raster as it is shown.
struct CellLayer {
  Column<float> grid;         ///< (cells)
  Column<float> at_vertices;  ///< (V) the values of the cells of a mesh's vertices
  ValueRange range;           ///< of the grid
};

/// A grid of any scalar type as float32, NaN where it has nothing (a count of 0 in a grid of whole numbers), and its
/// values at cells. Errors: kInvalidArgument for a cell beyond the grid. Cancel within 50 ms.
CellLayer cell_layer(const AnyColumn& grid, Span<const std::uint32_t> cell, OpContext& ctx);

}  // namespace pc
