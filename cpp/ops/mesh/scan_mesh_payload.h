#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "ops/mesh/voxel_cells.h"

namespace pc {

/// Triangles to return, in the order of the input.
struct ScanMeshPayload {
  Column<std::uint32_t> indices;   ///< (K, 3)
  Column<std::uint32_t> scan_ids;  ///< (K)
  Column<std::uint32_t> cell_ids;  ///< (K) i + nx (j + ny k)
  double surface_area;             ///< square metres
  double
      cap_lmax_m;  ///< longest edge returned; with a cap, all triangles up to it of the aspect ratio below are
  double cap_aspect;            ///< largest aspect ratio returned; kNoAspectCap without a cap
  std::uint64_t outside_count;  ///< triangles whose centroid lies in no cell, which are dropped
  std::uint64_t capped_count;   ///< triangles in cells that the cap left out
};

inline constexpr double kNoAspectCap = 1e9;
/// Aspect ratio that a capped mesh keeps.
inline constexpr double kCappedAspect = 4;

/// Bins the triangles of a mesh into voxels by their centroids, and limits their number: above `max_triangles` those with
/// an aspect ratio up to 4 remain, and of these the ones with the shortest longest edges; of equal ones the first.
///
/// Order    A function of the input alone, for any thread count.
/// Cost     Streaming passes; 5 bytes per triangle, 13 with a cap. Cancel within 50 ms.
/// Errors   kInvalidArgument: the grid (see VoxelCells), max_triangles 0, an index beyond the vertices, other lengths.
/// Source   contract core-endpoints 7 (payload cap), wire 11.2 (cells).
ScanMeshPayload scan_mesh_payload(Span<const Vec3d> vertices, Span<const std::uint32_t> indices,
                                  Span<const std::uint32_t> scan_ids, const VoxelBox& grid,
                                  std::uint64_t max_triangles, OpContext& ctx);

}  // namespace pc
