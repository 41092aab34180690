#pragma once
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "ops/wood/voxel_hierarchy.h"
#include "ops/wood/voxel_neighbors.h"

namespace pc {

/// Columns of path and of lines.
constexpr std::uint32_t kPathWidth = 28;
constexpr std::uint32_t kLinesWidth = 22;

/// Shape of the surroundings of each voxel, at scales that grow from the voxel and from the spacing of the cloud. Adds the
/// columns of radii to those of neighbor_features.
///
/// Columns  8, 20 and 48 neighbours, then radii of 5, 12 and 30 voxels, 6 columns each: linearity, planarity and
///          sphericity of the covariance, |z| of its main direction, distance of the voxel from the mean over the size, and
///          log2 of the distance of the last neighbour (metres) or of the number of cells within the radius.
/// Order    A function of the voxels. Unchanged by mirroring, by rotation about z and by offsets, to the voxelization.
/// Cost     O(m) time; 4 bytes per voxel and column.
/// Cancel   Within 250 ms.
void add_radius_shapes(const VoxelCloud& cloud, BulkVector<float>& local_geometry, OpContext& ctx);

struct PathFeatures {
  BulkVector<float> path;   ///< (m x kPathWidth)
  BulkVector<float> lines;  ///< (m x kLinesWidth) or empty
};

/// Where each voxel stands on the cheapest paths to the bases of the plants.
///
/// near     neighbor_features with all columns of local_geometry and the graph; its lines may be empty, PathFeatures::lines
///          then stays empty
/// path     distance to the base, what hangs on the voxel, straightness of the path, the fit of the slice of the path
///          that it belongs to, and means of local shape along the path in both directions: Column in path_features.cpp.
/// lines    those of voxel_lines; then of the filled eighths of 48 neighbours, of log2 of the spread of the slices and of
///          their coherence each the mean along the path before the voxel, after it, and after it with a longer memory.
/// Order, Cancel  As local_geometry.
PathFeatures path_features(const VoxelCloud& cloud, const NeighborFeatures& near, OpContext& ctx);

/// Values of a row of features: which columns a network asks for.
enum class FeatureKind : std::uint8_t { kOffset, kReflectance, kLocalGeometry, kPath, kLines };

/// Columns of a kind: 3, 1, kLocalGeometryWidth, kPathWidth, kLinesWidth.
std::uint32_t feature_width(FeatureKind kind);

/// The computed columns of a voxel cloud, as its crops need them.
struct VoxelFeatures {
  BulkVector<float> local_geometry;  ///< (m x kLocalGeometryWidth) or empty
  BulkVector<float> path;            ///< (m x kPathWidth) or empty
  BulkVector<float> lines;           ///< (m x kLinesWidth) or empty
};

/// Computes what `kinds` need. Errors: kInvalidArgument for kReflectance on a cloud without it.
VoxelFeatures voxel_features(const VoxelCloud& cloud, Span<const FeatureKind> kinds, OpContext& ctx);

/// (m x sum of widths) the rows of a crop, columns in the order of `kinds`.
std::vector<float> crop_features(const VoxelCloud& cloud, const VoxelFeatures& features, const Crop& crop,
                                 Span<const FeatureKind> kinds);

}  // namespace pc
