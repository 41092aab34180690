#pragma once
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

constexpr std::uint32_t kNoCell = 0xFFFFFFFF;

/// For every cell of a raster, the marked cell with the nearest centre (the cell itself if it is marked); kNoCell if no
/// cell is marked.
///
/// marked   (nx * ny) non-zero = marked; nx * ny < 2^32 - 1
/// Order    Exact; among equally near cells the one in the lowest column, then in the lowest row.
/// Cost     O(1) and 8 bytes of scratch per cell. Cancel within 250 ms.
/// Source   Meijster, Roerdink & Hesselink 2000, "A general algorithm for computing distance transforms in linear time".
BulkVector<std::uint32_t> nearest_cells(std::uint32_t nx, std::uint32_t ny, Span<const std::uint8_t> marked,
                                        OpContext& ctx);

/// A marked cell and its squared distance in cells.
struct CellNeighbor {
  std::uint64_t squared_distance;
  std::uint32_t cell;
};

/// Finds the k marked cells nearest to a cell: best-first search in an occupancy pyramid.
class CellSearch {
 public:
  /// Cost  1.4 bytes per cell.
  CellSearch(std::uint32_t nx, std::uint32_t ny, Span<const std::uint8_t> marked, OpContext& ctx);

  /// Fills `out` with the `wanted` (>= 1) nearest marked cells, nearest first, ties by cell number; with all of them if
  /// there are fewer. Cost O(wanted log cells) in typical cases.
  void nearest(std::uint32_t column, std::uint32_t row, std::size_t wanted,
               std::vector<CellNeighbor>& out) const;

 private:
  struct Level {
    std::uint32_t nx, ny;
    BulkVector<std::uint8_t> any;
  };
  struct Query {
    std::int64_t column, row;
    std::size_t wanted;
  };
  void descend(std::size_t level, std::uint32_t i, std::uint32_t j, const Query& query,
               std::vector<CellNeighbor>& out) const;
  static std::uint64_t distance_to_block(std::size_t level, std::uint32_t i, std::uint32_t j,
                                         const Query& query);

  std::vector<Level> levels_;
};

}  // namespace pc
