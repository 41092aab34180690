#include "ops/wood/voxel_neighbors.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "ops/wood/voxel_features.h"
#include "ops/wood/voxel_lines.h"
#include "ops/wood/voxel_shape.h"
#include "spatial/all_knn.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

/// Neighbours of the scales of shapes.
constexpr std::array<std::uint32_t, 3> kScales{8, 20, 48};
constexpr std::uint32_t kMost = kScales.back();
static_assert(kScales.size() * kShapeWidth == kNeighborShapeColumns && kMost == Surroundings::kMost);
/// Of the graph.
constexpr std::uint32_t kJoined = 10;
constexpr double kGap_m = 1;

/// Shapes of the nested numbers of neighbours of one voxel.
void write_shapes(const Surroundings& all, float* out) {
  ShapeSums sums;
  sums.add({0, 0, 0});
  std::size_t next = 0;
  for (const std::uint32_t count : kScales) {
    for (; next < all.count && next < count; ++next) sums.add({all.x[next], all.y[next], all.z[next]});
    const double size = next > 0 ? std::sqrt(all.squared[next - 1]) : 0;
    write_shape(shape_of(sums), {0, 0, 0}, size, log_size(size), out);
    out += kShapeWidth;
  }
}

}  // namespace

NeighborFeatures neighbor_features(const VoxelCloud& cloud, const NeighborWishes& wishes, OpContext& ctx) {
  const auto places = cloud.nodes.place.view();
  NeighborFeatures out;
  if (places.empty()) return out;
  out.shapes.resize(places.size * kLocalGeometryWidth);
  if (wishes.lines) out.lines.resize(places.size * kLineColumns);
  std::optional<PathGraphMaker> maker;
  if (wishes.graph) maker.emplace(places, kJoined, kGap_m);
  const KdTree tree(places, ctx);
  const KdTreeView view = tree.view();
  ctx.begin_phase("Measuring neighbours", tree.leaf_blocks(all_knn_block(kMost)).size() - 1);
  all_knn(tree, kMost, ctx, [&](std::uint32_t number, const LeafKnn& found) {
    const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
    Surroundings all;
    for (std::uint32_t i = 0; i < leaf.count; ++i) {
      const std::size_t row = leaf.row[i];
      all.take(leaf.point(i), found.rows(i), found.squared(i), places);
      write_shapes(all, out.shapes.data() + row * kLocalGeometryWidth);
      if (wishes.lines) write_lines(all, cloud.nodes.points[row], out.lines.data() + row * kLineColumns);
      if (maker) maker->set_near(row, found.rows(i), found.squared(i));
    }
  });
  if (maker) out.graph = std::move(*maker).finish(ctx);
  return out;
}

}  // namespace pc
