#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "ops/mesh/voxel_cells.h"

namespace pc {

struct BinnedTriangles {
  Column<std::uint32_t>
      indices;  ///< (T, 3) of the triangles whose centroid lies in a cell, in the order of the input
  Column<std::uint32_t> cell_ids;  ///< (T) i + nx (j + ny k)
};

/// Bins triangles into cells by their centroids and drops those outside every cell. A cell contains its lower faces.
///
/// Order    That of the triangles, for any thread count. Cost: two passes, cancel within 50 ms.
/// Errors   kInvalidArgument: sizes, counts or lists out of range; an index beyond the vertices.
/// Source   contract wire 11.2: rotate back about the centre, find the column, subtract its offset, divide.
BinnedTriangles grid_binning(Span<const Vec3d> vertices, Span<const std::uint32_t> indices,
                             const VoxelBox& grid, OpContext& ctx);

/// The cell of a triangle whose centroid lies in none.
constexpr std::uint32_t kNoCell = 0xFFFFFFFFU;

struct BinnedCells {
  Column<std::uint32_t> cell_ids;  ///< (T) i + nx (j + ny k), or kNoCell
  std::size_t cell_count;          ///< nx ny nz
};

/// The cell of every triangle; otherwise like grid_binning, in one pass.
BinnedCells bin_cells(Span<const Vec3d> vertices, Span<const std::uint32_t> indices, const VoxelBox& grid,
                      OpContext& ctx);

}  // namespace pc
