#pragma once
#include <array>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "spatial/hull.h"
#include "spatial/raster.h"

namespace pc {

/// Cells of a grid, some of which have values (known cells). How the other cells are filled is computed once, from the
/// positions of the known cells, and applies to any set of values: fill(z) reads the known cells, writes the other
/// cells of their hull and leaves the rest unchanged.
struct KnownCells {
  std::uint32_t nx, ny;
  Span<const std::uint8_t> known;  ///< (nx * ny) non-zero = z has a value
  const RasterHull& hull;          ///< of their centres; if these lie on one line, it contains every cell

  std::size_t size() const { return known.size; }
  bool in_hull(std::size_t column, std::size_t row) const {
    return hull.degenerate || hull.contains(column, row);
  }
  /// Number of cells in the hull that are not known.
  std::uint64_t unknown_count(OpContext& ctx) const;
};

/// Linear interpolation in the Delaunay triangles of the known cells, whose centres must not all lie on one line.
/// Cost    O(m log m + cells) time for m known cells beside unknown ones; 80 bytes per known cell beside an unknown one
///         while it is built, 40 bytes per filled cell.
/// Cancel  Within 50 ms. The result does not depend on threads: every cell lies in one triangle.
class TinInterpolation {
 public:
  TinInterpolation(const KnownCells& cells, OpContext& ctx);
  void fill(Span<double> z, OpContext& ctx) const;

  /// A cell, its triangle, twice the areas of the triangles that it forms with two of the sides, and twice the whole
  /// area.
  struct Cell {
    std::uint32_t cell;
    std::array<std::uint32_t, 3> corner;
    double w1, w2, area;
  };

 private:
  BulkVector<Cell> cells_;
};

/// Mean of the 12 nearest known cells, weights 1 / d^2, d in cells.
/// Cost    O(log cells) per filled cell in typical cases (CellSearch); 52 bytes per filled cell. Cancel within 50 ms.
/// Source  Shepard 1968, "A two-dimensional interpolation function for irregularly-spaced data".
class IdwInterpolation {
 public:
  IdwInterpolation(const KnownCells& cells, OpContext& ctx);
  void fill(Span<double> z, OpContext& ctx) const;

  static constexpr std::size_t kNeighbors = 12;
  struct Cell {
    std::uint32_t cell;
    std::array<std::uint32_t, kNeighbors>
        neighbor;  ///< nearest first, ties by number; kNoCell = no more neighbours
  };

 private:
  std::uint32_t nx_;
  BulkVector<Cell> cells_;
};

/// Value of the nearest known cell.
/// Cost  O(cells) time, 8 bytes per cell. Cancel within 250 ms.
class NearestInterpolation {
 public:
  NearestInterpolation(const KnownCells& cells, OpContext& ctx);
  void fill(Span<double> z, OpContext& ctx) const;

 private:
  BulkVector<std::uint32_t> source_;  ///< (cells) kNoCell = not filled
};

}  // namespace pc
