#pragma once
#include <cstddef>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"

namespace pc {

/// The lowest point of a cell: offset from the cell's centre in cells, and height above the plane of the lattice.
struct CellPoint {
  float du, dv, height;    ///< height NaN = none
  bool scattered = false;  ///< no evidence of ground by itself: return_layer.h
};

/// Square cells with the lowest point of each, and which of these points are ground.
struct CellLevel {
  std::uint32_t nx, ny;
  double size;                      ///< metres
  BulkVector<CellPoint> points;     ///< (nx ny), rows from the south
  BulkVector<std::uint8_t> ground;  ///< (nx ny) 1 = the cell's point is ground

  std::size_t cells() const { return points.size(); }
  bool empty(std::size_t cell) const { return points[cell].height != points[cell].height; }
};

/// Cells of twice the size, none of them ground. Each gets the lowest of the points of its four children; among equals
/// that of the first row, then column.
CellLevel coarser_level(const CellLevel& fine, OpContext& ctx);

/// Marks the cells of `fine` as ground that the points of the ground cells of `coarse` come from.
void inherit_ground(const CellLevel& coarse, CellLevel& fine, OpContext& ctx);

}  // namespace pc
