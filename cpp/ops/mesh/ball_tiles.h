#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Tiles of equal width over the box of a cloud in x and y, row by row; those at the border reach beyond it.
struct BallTiles {
  std::size_t per_side;
  Vec3d low, width;  ///< corner of the box; of a tile

  std::size_t count() const { return per_side * per_side; }
  /// The tile that holds a place.
  std::size_t of(const Vec3d& p) const {
    return along(p.y, low.y, width.y) * per_side + along(p.x, low.x, width.x);
  }
  /// Whether a place lies in a tile or within `halo` of it along either axis.
  bool holds(std::size_t tile, const Vec3d& p, double halo) const {
    return reaches(tile % per_side, p.x, low.x, width.x, halo) &&
           reaches(tile / per_side, p.y, low.y, width.y, halo);
  }
  std::size_t along(double v, double from, double step) const {
    const double at = step > 0 ? std::floor((v - from) / step) : 0;
    return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(per_side - 1)));
  }
  bool reaches(std::size_t at, double v, double from, double step, double halo) const {
    const double begin = from + step * static_cast<double>(at);
    return (at == 0 || v >= begin - halo) && (at + 1 == per_side || v <= begin + step + halo);
  }
};

/// The rows of points that each tile holds.
struct TileRows {
  BulkVector<std::uint64_t> first;  ///< (tiles + 1) part of `rows` of each tile
  BulkVector<std::uint32_t> rows;   ///< ascending within a tile

  Span<const std::uint32_t> of(std::size_t tile) const {
    return rows.view().subspan(first[tile], first[tile + 1] - first[tile]);
  }
};

/// points   (n) finite, n < 2^32, in or near the box of the tiles
/// halo     0 .. the width of a tile, metres: a point is in up to nine tiles
/// Cost     O(n) time, 4 bytes per point and tile that holds it.
/// Cancel   Within 50 ms.
TileRows tile_rows(Span<const Vec3d> points, const BallTiles& tiles, double halo, OpContext& ctx);

}  // namespace pc
