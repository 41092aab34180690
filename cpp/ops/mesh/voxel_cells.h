#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/plane_rotation.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// A box of voxels, rotated about the vertical axis through its centre.
struct VoxelBox {
  Vec3d center, size;             ///< metres; sizes > 0
  std::uint32_t nx, ny, nz;       ///< >= 1, at most 2^32 - 2 cells
  double rotation_deg;            ///< counter-clockwise seen from above
  Span<const double> offsets;     ///< (ny, nx) metres by which each column is raised, or empty
  Span<const std::uint8_t> kept;  ///< (ny, nx) 0 = the column is dropped; empty = all are kept
};

/// Finds the cell of a place. A cell contains its lower faces. Refers to the box, which must outlive it.
/// Source: contract wire 11.2: rotate back about the centre, find the column, subtract its offset, divide.
class VoxelCells {
 public:
  /// Errors: kInvalidArgument for sizes, counts or lists out of range.
  explicit VoxelCells(const VoxelBox& grid);

  /// i + nx (j + ny k); nothing outside every cell and for places that are not finite.
  std::optional<std::uint32_t> cell_of(const Vec3d& p) const;

 private:
  const VoxelBox& grid_;
  PlaneRotation rotation_;
};

}  // namespace pc
