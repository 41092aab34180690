#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "ops/trees/path_graph.h"
#include "ops/wood/voxel_hierarchy.h"

namespace pc {

/// Columns of local_geometry, and those of them that the nearest neighbours give: the first ones.
constexpr std::uint32_t kLocalGeometryWidth = 36;
constexpr std::uint32_t kNeighborShapeColumns = 18;

/// What the nearest neighbours of each voxel give.
struct NeighborFeatures {
  BulkVector<float>
      shapes;  ///< (m x kLocalGeometryWidth) the first kNeighborShapeColumns of each row, the others 0
  BulkVector<float> lines;  ///< (m x kLineColumns) of voxel_lines.h, or empty
  PathGraph graph;          ///< for voxel_paths, or empty
};

/// What is wanted besides the shapes.
struct NeighborWishes {
  bool lines, graph;
};

/// One search for the 48 nearest neighbours of each voxel, and all that is computed from them.
///
/// Order    A function of the voxels.
/// Cost     O(m) time; 4 bytes per voxel and column, and those of the graph.
/// Cancel   Within 250 ms.
NeighborFeatures neighbor_features(const VoxelCloud& cloud, const NeighborWishes& wishes, OpContext& ctx);

}  // namespace pc
