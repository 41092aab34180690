#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/mesh/voxel_cells.h"

namespace pc {

/// Hits of one scan, of which some are counted.
struct CountedHits {
  Span<const Vec3d> positions;          ///< (n) metres
  Vec3d shift;                          ///< added to them: the frame of the grid
  Span<const std::uint8_t> is_counted;  ///< (n) non-zero = counted
};

/// Number of the counted hits in every voxel.
///
/// Order    (cells), k-major; the same for any number of threads.
/// Cost     O(rows + cells), 4 bytes per voxel. Cancel within 50 ms.
/// Errors   kInvalidArgument: lengths that differ, a grid out of range.
Column<std::uint32_t> hit_counts(const std::vector<CountedHits>& scans, const VoxelBox& grid, OpContext& ctx);

}  // namespace pc
