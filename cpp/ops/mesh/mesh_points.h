#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "ops/mesh/voxel_cells.h"

namespace pc {

/// A box that is rotated about the vertical axis through its centre; its faces belong to it.
struct CropBox {
  Vec3d min, max;       ///< metres, before the rotation
  double rotation_deg;  ///< counter-clockwise seen from above
};

struct MeshPoints {
  Column<Vec3d> points;          ///< metres, in the order of the rows
  std::uint64_t unusable_count;  ///< points that are not finite or beyond 2^100 m, which are left out
};

/// The points that a mesh is made of: those that `skip` does not mark, moved by `shift`, inside the box.
///
/// skip     (n) 1 = leave out, or empty
/// Order    That of the rows, for any thread count. Cost: two passes, cancel within 50 ms.
/// Errors   kInvalidArgument: lengths that differ, a box or shift that is not finite.
MeshPoints mesh_points(Span<const Vec3d> positions, Span<const std::uint8_t> skip, const Vec3d& shift,
                       const std::optional<CropBox>& crop, OpContext& ctx);

/// The same with the voxels of a grid instead of a box. Errors also: those of VoxelCells.
MeshPoints mesh_points_in_voxels(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                                 const Vec3d& shift, const VoxelBox& grid, OpContext& ctx);

/// Every `stride`-th of all points, the first one first, counted through the parts.
/// Errors: kInvalidArgument for a stride of 0.
Column<Vec3d> stride_points(const std::vector<Span<const Vec3d>>& parts, std::uint64_t stride,
                            OpContext& ctx);

}  // namespace pc
