#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"

namespace pc::io {

/// A grid of heights whose row 0 has the lowest y.
struct RasterGrid {
  Span<const double> values;  ///< (ny, nx)
  std::uint64_t nx, ny;       ///< >= 1
};

/// The rows of an ESRI ASCII grid from north to south: values separated by blanks, `\n` after every row.
///
/// nodata   A value equal to it is a void and written with all digits.
/// Numbers  4 decimals, ties away from zero, as Number.prototype.toFixed writes them; with all digits, as
///          Number.prototype.toString does, from 1e21 on and where 4 decimals would give nodata.
/// Order    The bytes do not depend on threads.
/// Cost     O(cells) time; at most twice the bytes of the text.
/// Cancel   Within 250 ms.
/// Errors   kInvalidArgument: another number of values than nx * ny.
Column<std::uint8_t> raster_text(const RasterGrid& grid, double nodata, OpContext& ctx);

struct RasterFloats {
  Column<float> values;      ///< (ny, nx), row 0 has the highest y; empty if a value was refused
  bool refused = false;      ///< a value lies outside the range of float32
  double refused_value = 0;  ///< the first one
};

/// The image of a GeoTIFF: float32 from north to south. Order, Cancel, Errors as above. Cost: 4 bytes per cell.
RasterFloats raster_floats(const RasterGrid& grid, OpContext& ctx);

}  // namespace pc::io
