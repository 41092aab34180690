#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "spatial/raster.h"

namespace pc {

struct RasterMesh {
  Column<float> vertices;         ///< (V, 3) metres, frame of the raster
  Column<float> normals;          ///< (V, 3) unit, upwards; mean of the adjacent faces, weighted by area
  Column<std::uint32_t> indices;  ///< (T, 3) counter-clockwise seen from above
  Column<std::uint32_t> cell;     ///< (V) number of the vertex's cell
  double area;                    ///< of the surface, square metres
};

/// Mesh of a raster: a vertex at the centre of every cell with a value, and two triangles for each 2 x 2 block of such
/// cells, with the diagonal from lower left to upper right; vertices without a triangle are dropped.
///
/// z        (cells) metres; NaN = void
/// Order    Vertices and blocks in the order of the cells, for any thread count.
/// Cost     O(cells); 4 bytes of scratch per cell. Cancel within 50 ms.
/// Errors   kInvalidArgument: frame out of range, wrong number of cells.
/// Source   Contract terrain section 1.4.
RasterMesh raster_mesh(const RasterFrame& frame, Span<const double> z, OpContext& ctx);

}  // namespace pc
