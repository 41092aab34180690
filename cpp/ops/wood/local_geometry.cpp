#include <array>

#include "core/parallel.h"
#include "ops/wood/place_cells.h"
#include "ops/wood/voxel_features.h"
#include "ops/wood/voxel_neighbors.h"
#include "ops/wood/voxel_shape.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

/// Radii in voxels; their cells are a part of the radius.
constexpr std::array<double, 3> kRadii{5, 12, 30};
constexpr double kCellsPerRadius = 4;
static_assert(kLocalGeometryWidth == kNeighborShapeColumns + kShapeWidth * kRadii.size());

struct CellShape {
  VoxelShape shape;
  float log_count = 0;
};

void radius_scale(Span<const Vec3d> places, double radius_m, std::uint32_t column, BulkVector<float>& out,
                  OpContext& ctx) {
  const PlaceCells cells = place_cells(places, radius_m / kCellsPerRadius, ctx);
  const KdTree tree(cells.place.view(), ctx);
  const KdTreeView view = tree.view();
  BulkVector<CellShape> shapes(cells.size());
  ctx.begin_phase("Measuring surroundings", cells.size() + places.size);
  parallel_for(ctx, cells.size(), 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      ShapeSums of;
      view.for_each_within(
          cells.place[c], radius_m * radius_m,
          [&](std::uint64_t row, std::uint64_t, double) { of.add(cells.place[row] - cells.place[c]); });
      shapes[c] = {shape_of(of), log_size(of.count)};
    }
  });
  parallel_for(ctx, places.size, 8192, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t c = cells.cell_of[i];
      write_shape(shapes[c].shape, places[i] - cells.place[c], radius_m, shapes[c].log_count,
                  out.data() + i * kLocalGeometryWidth + column);
    }
  });
}

}  // namespace

void add_radius_shapes(const VoxelCloud& cloud, BulkVector<float>& local_geometry, OpContext& ctx) {
  const auto places = cloud.nodes.place.view();
  std::uint32_t column = kNeighborShapeColumns;
  for (const double radius : kRadii) {
    if (!places.empty()) radius_scale(places, radius * cloud.nodes.edge_m, column, local_geometry, ctx);
    column += kShapeWidth;
  }
}

}  // namespace pc
