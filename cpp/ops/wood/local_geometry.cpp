#include <array>

#include "core/parallel.h"
#include "ops/wood/place_cells.h"
#include "ops/wood/voxel_features.h"
#include "ops/wood/voxel_shape.h"
#include "spatial/all_knn.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

/// Neighbours of the first three scales.
constexpr std::array<std::uint32_t, 3> kNeighbors{8, 20, 48};
/// Radii of the others in voxels; their cells are a part of the radius.
constexpr std::array<double, 3> kRadii{5, 12, 30};
constexpr double kCellsPerRadius = 4;
static_assert(kLocalGeometryWidth == kShapeWidth * (kNeighbors.size() + kRadii.size()));

/// Nested numbers of neighbours of one voxel.
void write_nearest(const Vec3d& place, Span<const std::uint64_t> rows, Span<const double> squared,
                   Span<const Vec3d> places, float* out) {
  ShapeSums sums;
  sums.add({0, 0, 0});
  std::size_t next = 0;
  for (const std::uint32_t count : kNeighbors) {
    for (; next < rows.size && next < count; ++next) sums.add(places[rows[next]] - place);
    const double size = next > 0 ? std::sqrt(squared[next - 1]) : 0;
    write_shape(sums, {0, 0, 0}, size, size, out);
    out += kShapeWidth;
  }
}

void nearest_scales(Span<const Vec3d> places, BulkVector<float>& out, OpContext& ctx) {
  const KdTree tree(places, ctx);
  const KdTreeView view = tree.view();
  ctx.begin_phase("Measuring neighbours", tree.leaf_blocks(all_knn_block(kNeighbors.back())).size() - 1);
  all_knn(tree, kNeighbors.back(), ctx, [&](std::uint32_t number, const LeafKnn& found) {
    const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
    for (std::uint32_t i = 0; i < leaf.count; ++i)
      write_nearest(leaf.point(i), found.rows(i), found.squared(i), places,
                    out.data() + leaf.row[i] * kLocalGeometryWidth);
  });
}

void radius_scale(Span<const Vec3d> places, double radius_m, std::uint32_t column, BulkVector<float>& out,
                  OpContext& ctx) {
  const PlaceCells cells = place_cells(places, radius_m / kCellsPerRadius, ctx);
  const KdTree tree(cells.place.view(), ctx);
  const KdTreeView view = tree.view();
  BulkVector<ShapeSums> sums(cells.size());
  ctx.begin_phase("Measuring surroundings", cells.size() + places.size);
  parallel_for(ctx, cells.size(), 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      ShapeSums of;
      view.for_each_within(
          cells.place[c], radius_m * radius_m,
          [&](std::uint64_t row, std::uint64_t, double) { of.add(cells.place[row] - cells.place[c]); });
      sums[c] = of;
    }
  });
  parallel_for(ctx, places.size, 4096, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t c = cells.cell_of[i];
      write_shape(sums[c], places[i] - cells.place[c], radius_m, sums[c].count,
                  out.data() + i * kLocalGeometryWidth + column);
    }
  });
}

}  // namespace

BulkVector<float> local_geometry(const VoxelCloud& cloud, OpContext& ctx) {
  const auto places = cloud.nodes.place.view();
  BulkVector<float> out(places.size * kLocalGeometryWidth);
  if (places.empty()) return out;
  nearest_scales(places, out, ctx);
  std::uint32_t column = kShapeWidth * static_cast<std::uint32_t>(kNeighbors.size());
  for (const double radius : kRadii) {
    radius_scale(places, radius * cloud.nodes.edge_m, column, out, ctx);
    column += kShapeWidth;
  }
  return out;
}

}  // namespace pc
