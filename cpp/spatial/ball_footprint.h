#pragma once
#include <cstddef>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Tells quickly that no ball contains a point: a bitmap of the cells that the balls touch. It pays where the balls fill a
/// small part of the space that they span, whatever their sizes; a query is one lookup in at most 1 MiB.
class BallFootprint {
 public:
  /// The balls are those of BallGrid. Balls that would fill the bitmap several times over leave it out: `covers` is then
  /// always true.
  ///
  /// Cost     O(n) time, at most 1 MiB. Cancel within 50 ms.
  BallFootprint(Span<const Vec3d> centers, Span<const double> squared_radius, OpContext& ctx);

  /// False if no ball contains the finite point p.
  bool covers(const Vec3d& p) const {
    if (bits_.empty()) return true;
    const double x = (p.x - low_.x) * scale_, y = (p.y - low_.y) * scale_, z = (p.z - low_.z) * scale_;
    if (!(x >= 0 && x < size_.x && y >= 0 && y < size_.y && z >= 0 && z < size_.z)) return false;
    const std::size_t bit =
        (static_cast<std::size_t>(z) * ny_ + static_cast<std::size_t>(y)) * nx_ + static_cast<std::size_t>(x);
    return (bits_[bit >> 6] >> (bit & 63) & 1) != 0;
  }

 private:
  /// Cell of a coordinate; never decreases as x grows, so that a ball's cells hold all its points.
  std::size_t cell_of(double x, double low) const { return static_cast<std::size_t>((x - low) * scale_); }
  void mark(const Vec3d& center, double reach);

  BulkVector<std::uint64_t> bits_;
  Vec3d low_{0, 0, 0}, size_{0, 0, 0};  ///< corner in metres, extent in cells
  double scale_ = 0;
  std::size_t nx_ = 0, ny_ = 0;
};

}  // namespace pc
