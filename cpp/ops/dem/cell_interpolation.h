#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"
#include "spatial/hull.h"
#include "spatial/raster.h"

namespace pc {

/// Values of cells and which of them were there from the start.
struct CellSurface {
  std::uint32_t nx, ny;
  Span<const std::uint8_t> known;  ///< (nx * ny) non-zero = z is given
  Span<double> z;                  ///< (nx * ny); only cells that are not known are written
};

/// Fills the cells inside the convex hull of the known ones with their linear interpolation in the Delaunay triangles of
/// the known ones. Every cell is written by one triangle, so that threads do not matter. Cancel within 50 ms.
void interpolate_tin(const CellSurface& surface, OpContext& ctx);

/// Fills the cells of `hull` with the mean of the 12 nearest known ones, weights 1 / d^2, d in cells.
/// Source  Shepard 1968, "A two-dimensional interpolation function for irregularly-spaced data".
void interpolate_idw(const CellSurface& surface, const RasterHull& hull, OpContext& ctx);

}  // namespace pc
