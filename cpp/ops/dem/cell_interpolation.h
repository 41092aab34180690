#pragma once
#include <array>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "spatial/hull.h"
#include "spatial/raster.h"

namespace pc {

/// Cells of a grid whose values are given. What fills the others is found out once, from these cells alone, and serves
/// every set of values: fill(z) reads known cells, writes the others of their hull and leaves the rest.
struct KnownCells {
  std::uint32_t nx, ny;
  Span<const std::uint8_t> known;  ///< (nx * ny) non-zero = z is given
  const RasterHull& hull;          ///< of their centres; on a line it holds every cell

  std::size_t size() const { return known.size; }
  bool in_hull(std::size_t column, std::size_t row) const {
    return hull.degenerate || hull.contains(column, row);
  }
  /// Cells of the hull that are not known.
  std::uint64_t unknown_count(OpContext& ctx) const;
};

/// Linear interpolation in the Delaunay triangles of the known cells, which must not all lie on a line.
/// Cost    80 bytes a cell at the rim of the known ones while it is made, 40 bytes for each cell that it fills.
/// Cancel  Within 50 ms. Threads do not matter: every cell lies in one triangle.
class TinInterpolation {
 public:
  TinInterpolation(const KnownCells& cells, OpContext& ctx);
  void fill(Span<double> z, OpContext& ctx) const;

  /// A cell, its triangle, and twice the areas of the triangles between it and two of the sides, and of the whole.
  struct Cell {
    std::uint32_t cell;
    std::array<std::uint32_t, 3> corner;
    double w1, w2, area;
  };

 private:
  BulkVector<Cell> cells_;
};

/// Mean of the 12 nearest known cells, weights 1 / d^2, d in cells.
/// Cost    52 bytes a cell that it fills. Cancel within 50 ms.
/// Source  Shepard 1968, "A two-dimensional interpolation function for irregularly-spaced data".
class IdwInterpolation {
 public:
  IdwInterpolation(const KnownCells& cells, OpContext& ctx);
  void fill(Span<double> z, OpContext& ctx) const;

  static constexpr std::size_t kNeighbors = 12;
  struct Cell {
    std::uint32_t cell;
    std::array<std::uint32_t, kNeighbors>
        neighbor;  ///< nearest first, ties by number; kNoCell = there are no more
  };

 private:
  std::uint32_t nx_;
  BulkVector<Cell> cells_;
};

/// Value of the nearest known cell.
/// Cost  8 bytes a cell. Cancel within 250 ms.
class NearestInterpolation {
 public:
  NearestInterpolation(const KnownCells& cells, OpContext& ctx);
  void fill(Span<double> z, OpContext& ctx) const;

 private:
  BulkVector<std::uint32_t> source_;  ///< (cells) kNoCell = stays as it is
};

}  // namespace pc
