#include "ops/octree/octree_translate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/parallel.h"
#include "ops/octree/octree_metadata.h"

namespace pc {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{2} << 20;

[[noreturn]] void unsupported(const std::string& why) {
  throw Error(ErrorCode::kUnsupported, "this octree cannot be moved: " + why + "; rebuild it");
}

OctreeResult read_metadata(const OctreeSource& source) {
  const BulkVector<std::byte> bytes = source.file("metadata.json");
  const auto parsed =
      octree::parse_metadata_json(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  if (!parsed) unsupported("its metadata.json is not of this builder's layout");
  const OctreeAttributeInfo& position = parsed->attributes[0];
  if (position.name != "position" || position.type != "int32" || position.size != 12 ||
      position.num_elements != 3)
    unsupported("its first attribute is not a position of three int32");
  const auto positive = [](double v) { return std::isfinite(v) && v > 0; };
  if (!positive(parsed->scale.x) || !positive(parsed->scale.y) || !positive(parsed->scale.z))
    unsupported("its scale is not positive");
  const std::uint64_t stride = parsed->record_bytes;
  if (source.node_bytes() % stride != 0 || source.node_bytes() / stride != parsed->point_count)
    unsupported("octree.bin does not hold the points that metadata.json describes");
  return *parsed;
}

/// Copies octree.bin in blocks, for a sink that cannot share it.
void copy_nodes(const OctreeSource& source, OctreeSink& sink, OpContext& ctx) {
  const auto total = static_cast<std::size_t>(source.node_bytes());
  sink.begin(total);
  std::vector<BulkVector<std::byte>> buffers(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, total, kBlockBytes, [&](std::size_t begin, std::size_t end, int worker) {
    BulkVector<std::byte>& buffer = buffers[static_cast<std::size_t>(worker)];
    if (buffer.empty()) buffer.resize(kBlockBytes);
    const Span<std::byte> bytes{buffer.data(), end - begin};
    source.read_nodes(begin, bytes);
    sink.write_nodes(begin, bytes);
  });
}

/// True if adjacent doubles differ by less than a step throughout the box.
bool resolves(const Box3d& box, const Vec3d& step) {
  const auto fine = [](double low, double high, double scale) {
    return std::max(std::abs(low), std::abs(high)) * std::numeric_limits<double>::epsilon() <= scale;
  };
  return fine(box.min.x, box.max.x, step.x) && fine(box.min.y, box.max.y, step.y) &&
         fine(box.min.z, box.max.z, step.z);
}

Span<const std::byte> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace

OctreeResult octree_translate(const OctreeSource& source, const Vec3d& delta, OctreeSink& sink,
                              OpContext& ctx) {
  require(is_finite(delta), "the move of an octree must be three finite numbers");
  OctreeResult result = read_metadata(source);
  const Vec3d new_offset = result.offset + delta;
  const Box3d box{result.bounds.min + delta, result.bounds.max + delta};
  if (!is_finite(new_offset) || !is_finite(box.min) || !is_finite(box.max) || !resolves(box, result.scale))
    unsupported("doubles at the new position are coarser than its step");

  ctx.begin_phase("Moving octree", source.node_bytes());
  if (!sink.share_nodes(source)) copy_nodes(source, sink, ctx);
  result.offset = new_offset;
  result.bounds = box;
  if (result.point_count != 0) {
    result.tight_bounds = {result.tight_bounds.min + delta, result.tight_bounds.max + delta};
    const Vec3d &min = result.tight_bounds.min, &max = result.tight_bounds.max;
    result.attributes[0].min = {min.x, min.y, min.z};
    result.attributes[0].max = {max.x, max.y, max.z};
  }
  result.node_bytes = source.node_bytes();
  for (const char* name : {"hierarchy.bin", "attribute_labels.json"}) {
    ctx.checkpoint();
    sink.file(name, source.file(name).view());
  }
  ctx.checkpoint();
  sink.file("metadata.json", bytes_of(octree::metadata_json(result)));
  return result;
}

}  // namespace pc
