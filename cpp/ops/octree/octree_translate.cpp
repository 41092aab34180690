#include "ops/octree/octree_translate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/parallel.h"
#include "core/round.h"
#include "ops/octree/octree_metadata.h"

namespace pc {

namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{2} << 20;

[[noreturn]] void unsupported(const std::string& why) {
  throw Error(ErrorCode::kUnsupported, "this octree cannot be moved: " + why + "; build it anew");
}

OctreeResult read_metadata(const OctreeSource& source) {
  const BulkVector<std::byte> bytes = source.file("metadata.json");
  const auto parsed =
      octree::parse_metadata_json(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  if (!parsed) unsupported("its metadata.json is not of this builder's layout");
  const OctreeAttributeInfo& position = parsed->attributes[0];
  if (position.name != "position" || position.type != "int32" || position.size != 12 ||
      position.num_elements != 3)
    unsupported("its first attribute is no position of three int32");
  const auto positive = [](double v) { return std::isfinite(v) && v > 0; };
  if (!positive(parsed->scale.x) || !positive(parsed->scale.y) || !positive(parsed->scale.z))
    unsupported("its scale is not positive");
  const std::uint64_t stride = parsed->record_bytes;
  if (source.node_bytes() % stride != 0 || source.node_bytes() / stride != parsed->point_count)
    unsupported("octree.bin does not hold the points that metadata.json tells of");
  return *parsed;
}

/// One axis of the move.
struct Axis {
  double scale, offset, delta, new_offset;

  static Axis make(double scale, double offset, double low, double delta) {
    return {scale, offset, delta, std::floor((low + delta) / scale) * scale};
  }
  /// False when the moved coordinate does not fit.
  bool move(std::int32_t& stored) const {
    const double coordinate = stored * scale + offset;
    const double steps = round_half_even((coordinate + delta - new_offset) / scale);
    if (!(steps >= std::numeric_limits<std::int32_t>::min() &&
          steps <= std::numeric_limits<std::int32_t>::max()))
      return false;
    stored = static_cast<std::int32_t>(steps);
    return true;
  }
};

bool move_records(std::byte* records, std::size_t count, std::size_t stride,
                  const std::array<Axis, 3>& axes) {
  bool fits = true;
  for (std::size_t i = 0; i < count; ++i, records += stride) {
    std::array<std::int32_t, 3> at;
    std::memcpy(at.data(), records, sizeof at);
    for (std::size_t a = 0; a < 3; ++a) fits &= axes[a].move(at[a]);
    std::memcpy(records, at.data(), sizeof at);
  }
  return fits;
}

void move_nodes(const OctreeSource& source, const OctreeResult& old, const std::array<Axis, 3>& axes,
                OctreeSink& sink, OpContext& ctx) {
  const std::size_t stride = old.record_bytes;
  const std::size_t block = std::max<std::size_t>(1, kBlockBytes / stride);
  std::vector<BulkVector<std::byte>> buffers(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, old.point_count, block, [&](std::size_t begin, std::size_t end, int worker) {
    BulkVector<std::byte>& buffer = buffers[static_cast<std::size_t>(worker)];
    if (buffer.empty()) buffer.resize(block * stride);
    const Span<std::byte> bytes{buffer.data(), (end - begin) * stride};
    source.read_nodes(begin * stride, bytes);
    if (!move_records(bytes.data, end - begin, stride, axes))
      unsupported("a moved coordinate leaves the range of int32");
    sink.write_nodes(begin * stride, bytes);
  });
}

/// True when neighbouring doubles are less than a step apart throughout the box.
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
  ctx.begin_phase("Moving octree", result.point_count);
  const Vec3d low = result.tight_bounds.min;
  const std::array<Axis, 3> axes{Axis::make(result.scale.x, result.offset.x, low.x, delta.x),
                                 Axis::make(result.scale.y, result.offset.y, low.y, delta.y),
                                 Axis::make(result.scale.z, result.offset.z, low.z, delta.z)};
  const Vec3d new_offset{axes[0].new_offset, axes[1].new_offset, axes[2].new_offset};
  const Box3d box{result.bounds.min + delta, result.bounds.max + delta};
  if (!is_finite(new_offset) || !is_finite(box.min) || !is_finite(box.max) || !resolves(box, result.scale))
    unsupported("doubles are coarser than its step where it would go");

  sink.begin(source.node_bytes());
  move_nodes(source, result, axes, sink, ctx);
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
