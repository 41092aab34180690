#include "ops/octree/octree_records.h"

#include <algorithm>
#include <cstring>

#include "core/parallel.h"
#include "ops/octree/level_scan.h"
#include "ops/octree/octree_attributes.h"

namespace pc::octree {

namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{2} << 20;  // each thread holds one
constexpr std::uint32_t kBatch = 2048;  // points gathered together: their records fit in the first caches
constexpr std::uint32_t kScanRecords = 1u << 24;  // searching a slice of a wide upper node takes about 2 ms
constexpr std::size_t kPositionBytes = 12;
static_assert(std::endian::native == std::endian::little,
              "octree.bin is little-endian and written from memory");

/// Points of one node within records [begin, end).
struct Slice {
  std::uint32_t begin, end;
  std::uint32_t count;
  std::uint8_t level;
  std::uint64_t offset;
};

/// Consecutive slices written as one block.
struct Group {
  std::size_t first, last;
  std::uint64_t bytes;
};

struct Worker {
  BulkVector<std::byte> block;
  BulkVector<std::uint32_t> picked;  ///< records of a slice
  std::vector<std::uint32_t> rows;   ///< rows of a batch
};

class RecordWriter {
 public:
  RecordWriter(const OctreeInput& input, const Frame& frame, const Tree& tree, std::uint32_t stride)
      : input_(input), frame_(frame), tree_(tree), stride_(stride) {}

  void write(const Layout& layout, OctreeSink& sink, OpContext& ctx) {
    ctx.begin_phase("Writing octree", 0);
    list_slices(layout, ctx);
    const std::vector<Group> groups = group_slices();
    std::vector<Worker> workers(static_cast<std::size_t>(ctx.threads()));
    ctx.begin_phase("Writing octree", groups.size());
    parallel_for_worker(ctx, groups.size(), 1, [&](std::size_t i, std::size_t, int index) {
      Worker& worker = workers[static_cast<std::size_t>(index)];
      const Group& group = groups[i];
      worker.block.reserve(group.bytes);
      std::byte* out = worker.block.data();
      for (std::size_t s = group.first; s < group.last; ++s) {
        fill(slices_[s], worker, out, ctx);
        out += std::uint64_t{slices_[s].count} * stride_;
      }
      sink.write_nodes(slices_[group.first].offset, {worker.block.data(), group.bytes});
    });
  }

 private:
  /// Divides nodes whose points fill more than a block or whose records take long to search.
  void list_slices(const Layout& layout, OpContext& ctx) {
    const auto slice_points = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, kBlockBytes / stride_));
    for (const PlacedNode& placed : layout.nodes) {
      const Node& node = tree_.nodes[placed.node];
      if (node.own == 0) continue;
      const bool wide = node.end - node.begin > kScanRecords, big = node.own > slice_points;
      if (!wide && !big) {
        slices_.push_back({node.begin, node.end, node.own, node.level, placed.offset});
        continue;
      }
      const std::uint32_t length = big ? slice_points : kScanRecords;
      const std::size_t first = slices_.size();
      for (std::uint64_t begin = node.begin; begin < node.end; begin += length) {
        const auto end = static_cast<std::uint32_t>(std::min<std::uint64_t>(node.end, begin + length));
        slices_.push_back({static_cast<std::uint32_t>(begin), end, 0, node.level, 0});
      }
      count_slices(first, placed.offset, ctx);
    }
  }

  void count_slices(std::size_t first, std::uint64_t offset, OpContext& ctx) {
    parallel_for(ctx, slices_.size() - first, 1, [&](std::size_t i, std::size_t) {
      Slice& slice = slices_[first + i];
      for_each_at_level(tree_.level.data(), slice.begin, slice.end, slice.level,
                        [&](std::uint32_t) { ++slice.count; });
    });
    for (std::size_t i = first; i < slices_.size(); ++i) {
      slices_[i].offset = offset;
      offset += std::uint64_t{slices_[i].count} * stride_;
    }
  }

  std::vector<Group> group_slices() const {
    std::vector<Group> groups;
    std::uint64_t scanned = 0;
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      if (slices_[i].count == 0) continue;
      const std::uint64_t bytes = std::uint64_t{slices_[i].count} * stride_;
      scanned += slices_[i].end - slices_[i].begin;
      if (groups.empty() || groups.back().bytes + bytes > kBlockBytes || scanned > kScanRecords) {
        groups.push_back({i, i, 0});
        scanned = slices_[i].end - slices_[i].begin;
      }
      groups.back().last = i + 1;
      groups.back().bytes += bytes;
    }
    return groups;
  }

  void fill(const Slice& slice, Worker& worker, std::byte* out, const OpContext& ctx) const {
    worker.picked.reserve(slice.count);
    std::uint32_t* picked = worker.picked.data();
    std::uint32_t count = 0;
    if (slice.count != 0) {
      for_each_at_level(tree_.level.data(), slice.begin, slice.end, slice.level,
                        [&](std::uint32_t record) { picked[count++] = record; });
    }
    worker.rows.resize(kBatch);
    for (std::uint32_t first = 0; first < count; first += kBatch) {
      ctx.checkpoint();
      const std::uint32_t n = std::min(kBatch, count - first);
      put_positions(picked + first, n, worker.rows.data(), out);
      std::size_t column_offset = kPositionBytes;
      for (const OctreeAttribute& attribute : input_.attributes) {
        gather_values(attribute, {worker.rows.data(), n}, out + column_offset, stride_);
        column_offset += stored_size(attribute);
      }
      out += std::size_t{n} * stride_;
    }
  }

  void put_positions(const std::uint32_t* picked, std::uint32_t n, std::uint32_t* rows,
                     std::byte* out) const {
    for (std::uint32_t i = 0; i < n; ++i) {
      const Record& record = tree_.records[picked[i]];
      const std::int32_t at[3] = {frame_.base[0] + static_cast<std::int32_t>(record.at.x),
                                  frame_.base[1] + static_cast<std::int32_t>(record.at.y),
                                  frame_.base[2] + static_cast<std::int32_t>(record.at.z)};
      std::memcpy(out + std::size_t{i} * stride_, at, sizeof at);
      rows[i] = record.row;
    }
  }

  const OctreeInput& input_;
  const Frame& frame_;
  const Tree& tree_;
  std::uint32_t stride_;
  BulkVector<Slice> slices_;
};

}  // namespace

std::uint32_t record_bytes(const OctreeInput& input) {
  std::uint32_t bytes = kPositionBytes;
  for (const OctreeAttribute& attribute : input.attributes) bytes += stored_size(attribute);
  return bytes;
}

void write_records(const OctreeInput& input, const Frame& frame, const Tree& tree, const Layout& layout,
                   OctreeSink& sink, OpContext& ctx) {
  RecordWriter(input, frame, tree, record_bytes(input)).write(layout, sink, ctx);
}

}  // namespace pc::octree
