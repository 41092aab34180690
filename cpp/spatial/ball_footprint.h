#pragma once
#include <cstddef>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/ball_grid.h"

namespace pc {

/// Tells quickly that no ball contains a point, or which levels of a BallGrid have balls that may: a map of the cells that
/// the balls touch, with a bit per level. It pays where the balls fill a small part of the space that they span, whatever
/// their sizes; a query is one lookup in at most 8 MiB.
class BallFootprint {
 public:
  /// The balls are those of BallGrid, with their levels. Balls that would fill the map several times over leave it out:
  /// `levels` then has all bits.
  ///
  /// Cost     O(n) time, at most 8 MiB. Cancel within 50 ms.
  BallFootprint(Span<const Vec3d> centers, Span<const double> squared_radius, Span<const std::int16_t> levels,
                OpContext& ctx);

  /// The levels (ball_grid::level_bit) whose balls may contain the finite point p; 0 = no ball contains it.
  std::uint8_t levels(const Vec3d& p) const {
    if (cells_.empty()) return ball_grid::kAllLevels;
    const double x = (p.x - low_.x) * scale_, y = (p.y - low_.y) * scale_, z = (p.z - low_.z) * scale_;
    if (!(x >= 0 && x < size_.x && y >= 0 && y < size_.y && z >= 0 && z < size_.z)) return 0;
    return cells_[(static_cast<std::size_t>(z) * ny_ + static_cast<std::size_t>(y)) * nx_ +
                  static_cast<std::size_t>(x)];
  }

 private:
  /// Cell of a coordinate; never decreases as x grows, so that a ball's cells hold all its points.
  std::size_t cell_of(double x, double low) const { return static_cast<std::size_t>((x - low) * scale_); }
  void mark(const Vec3d& center, double reach, std::uint8_t bit);

  BulkVector<std::uint8_t> cells_;
  Vec3d low_{0, 0, 0}, size_{0, 0, 0};  ///< corner in metres, extent in cells
  double scale_ = 0;
  std::size_t nx_ = 0, ny_ = 0;
};

}  // namespace pc
