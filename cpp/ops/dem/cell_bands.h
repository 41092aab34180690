#pragma once
#include <cstddef>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/dem/cell_percentile.h"
#include "spatial/raster.h"

namespace pc {

/// A point in its cell. Cell and place share a word, so that an entry takes 16 bytes.
struct CellEntry {
  static constexpr int kPlaceBits = 24;
  static constexpr std::uint32_t kHalf = std::uint32_t{1} << (kPlaceBits - 1);

  double z;            ///< metres, never -0
  std::uint64_t word;  ///< cell number in the band (16 bits), x and y in the cell (24 bits each, 0 .. 1)

  std::uint32_t local() const { return static_cast<std::uint32_t>(word >> (2 * kPlaceBits)); }
  std::uint32_t x() const { return static_cast<std::uint32_t>(word >> kPlaceBits) & (2 * kHalf - 1); }
  std::uint32_t y() const { return static_cast<std::uint32_t>(word) & (2 * kHalf - 1); }
  CellPlace place() const { return {offset(x()), offset(y())}; }
  /// Squared distance from the centre, in steps of the place.
  std::int64_t squared_distance() const {
    const std::int64_t dx = std::int64_t{x()} - kHalf, dy = std::int64_t{y()} - kHalf;
    return dx * dx + dy * dy;
  }

 private:
  static float offset(std::uint32_t steps) {
    return static_cast<float>(static_cast<std::int32_t>(steps) - static_cast<std::int32_t>(kHalf)) /
           (2 * static_cast<float>(kHalf));
  }
};

/// The points of a grid, grouped into bands of 2^shift consecutive cells.
struct CellBands {
  static constexpr std::size_t kMost = 256;

  int shift;
  BulkVector<CellEntry> entries;
  BulkVector<std::uint64_t> starts;  ///< (bands + 1) first entry of each band

  std::size_t count() const { return starts.size() - 1; }
  Span<CellEntry> band(std::size_t b) { return entries.view().subspan(starts[b], starts[b + 1] - starts[b]); }
};

/// Sorts points into bands; points outside the grid and points that are not finite are left out.
/// Order  Does not depend on threads. Cost two passes over the points, 16 bytes per point. Cancel within 50 ms.
CellBands cell_bands(Span<const Vec3d> points, const RasterFrame& frame, OpContext& ctx);

}  // namespace pc
