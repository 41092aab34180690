#include "ops/wood/voxel_features.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace pc {

std::uint32_t feature_width(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::kOffset:
      return 3;
    case FeatureKind::kReflectance:
      return 1;
    case FeatureKind::kLocalGeometry:
      return kLocalGeometryWidth;
    case FeatureKind::kPath:
      return kPathWidth;
    case FeatureKind::kLines:
      return kLinesWidth;
  }
  return 0;
}

VoxelFeatures voxel_features(const VoxelCloud& cloud, Span<const FeatureKind> kinds, OpContext& ctx) {
  const auto asks = [&](FeatureKind kind) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  };
  require(!asks(FeatureKind::kReflectance) || cloud.reflectance.size() == cloud.size(),
          "the cloud has no reflectance");
  const bool asks_lines = asks(FeatureKind::kLines);
  const bool asks_paths = asks(FeatureKind::kPath) || asks_lines;
  VoxelFeatures out;
  if (!asks(FeatureKind::kLocalGeometry) && !asks_paths) return out;
  NeighborFeatures near = neighbor_features(cloud, {.lines = asks_lines, .graph = asks_paths}, ctx);
  add_radius_shapes(cloud, near.shapes, ctx);
  if (asks_paths) {
    PathFeatures found = path_features(cloud, near, ctx);
    if (asks(FeatureKind::kPath)) out.path = std::move(found.path);
    out.lines = std::move(found.lines);
  }
  if (asks(FeatureKind::kLocalGeometry)) out.local_geometry = std::move(near.shapes);
  return out;
}

std::vector<float> crop_features(const VoxelCloud& cloud, const VoxelFeatures& features, const Crop& crop,
                                 Span<const FeatureKind> kinds) {
  std::size_t width = 0;
  for (const FeatureKind kind : kinds) width += feature_width(kind);
  std::vector<float> out(crop.voxel.size() * width);
  std::size_t column = 0;
  for (const FeatureKind kind : kinds) {
    const std::size_t columns = feature_width(kind);
    for (std::size_t i = 0; i < crop.voxel.size(); ++i) {
      const std::size_t voxel = crop.voxel[i];
      const float* from = &crop.levels[0].place[3 * i];
      if (kind == FeatureKind::kReflectance) from = &cloud.reflectance[voxel];
      if (kind == FeatureKind::kLocalGeometry) from = &features.local_geometry[voxel * columns];
      if (kind == FeatureKind::kPath) from = &features.path[voxel * columns];
      if (kind == FeatureKind::kLines) from = &features.lines[voxel * columns];
      std::memcpy(&out[i * width + column], from, columns * sizeof(float));
    }
    column += columns;
  }
  return out;
}

}  // namespace pc
