#include "ops/octree/octree_build.h"

#include "ops/octree/octree_attributes.h"
#include "ops/octree/octree_frame.h"
#include "ops/octree/octree_hierarchy.h"
#include "ops/octree/octree_metadata.h"
#include "ops/octree/octree_records.h"
#include "ops/octree/octree_sampling.h"
#include "ops/octree/octree_tree.h"

namespace pc {

namespace {

Span<const std::byte> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

OctreeResult describe(const octree::Frame& frame) {
  OctreeResult result{};
  const double side = frame.cube_side();
  const Vec3d low = frame.cube_min();
  result.point_count = frame.point_count;
  result.spacing = side / octree::kSpacingsPerNode;
  result.scale = {frame.scale, frame.scale, frame.scale};
  result.offset = frame.offset;
  result.bounds = {low, low + Vec3d{side, side, side}};
  result.tight_bounds = frame.point_count != 0 ? frame.tight : Box3d{{0, 0, 0}, {0, 0, 0}};
  return result;
}

}  // namespace

OctreeResult octree_build(const OctreeInput& input, const OctreeParams& params, OctreeSink& sink,
                          OpContext& ctx) {
  octree::check_input(input, params);
  ctx.begin_phase("Measuring attributes", input.positions.size * (1 + input.attributes.size()));
  const octree::Frame frame = octree::make_frame(input, params.scale, ctx);
  OctreeResult result = describe(frame);
  result.attributes = octree::measure_attributes(input, frame, ctx);
  octree::Tree tree = octree::make_tree(input, frame, params.leaf_capacity, ctx);
  octree::sample_levels(tree, frame, ctx);

  result.record_bytes = octree::record_bytes(input);
  const octree::Layout layout = octree::make_layout(tree, result.record_bytes, ctx);
  result.depth = layout.depth;
  result.node_count = layout.nodes.size();
  result.node_bytes = layout.total_bytes;
  const octree::Hierarchy hierarchy = octree::make_hierarchy(tree, layout, result.record_bytes);
  result.first_chunk_bytes = hierarchy.first_chunk_bytes;

  sink.begin(layout.total_bytes);
  octree::write_records(input, frame, tree, layout, sink, ctx);
  ctx.checkpoint();
  sink.file("hierarchy.bin", hierarchy.bytes.view());
  sink.file("attribute_labels.json", bytes_of(octree::labels_json(result)));
  ctx.checkpoint();
  sink.file("metadata.json", bytes_of(octree::metadata_json(result)));
  return result;
}

OctreeCost octree_build_cost(std::uint64_t point_count, std::uint32_t bytes_per_point) {
  // Records and levels 17 bytes; cells, their sums and counters at most 2; tiles and borders about 1; then blocks.
  constexpr std::uint64_t kPerPoint = 20, kFixed = std::uint64_t{64} << 20;
  return {point_count * kPerPoint + kFixed, point_count * bytes_per_point};
}

}  // namespace pc
