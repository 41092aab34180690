#include "io/laz/laz_writer.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "io/laz/chunk_encoder.h"
#include "io/laz/chunk_table.h"
#include "io/laz/laz_items.h"

namespace pc::io::laz {

namespace {

constexpr std::size_t kTileRows = LayeredCodec<RangeEncoder>::kTileRows;

/// Appends chunks to the file in their order, whichever thread finishes them first.
class OrderedChunks {
 public:
  OrderedChunks(platform::File& file, std::uint64_t at) : file_(file), at_(at) {}

  /// Waits for the turn of `chunk`. Writes nothing if another thread failed, whose error is reported.
  void write(std::size_t chunk, Span<const std::uint8_t> bytes) {
    std::unique_lock<std::mutex> lock(mutex_);
    turn_.wait(lock, [&] { return failed_ || sizes_.size() == chunk; });
    if (failed_) return;
    file_.write_at(at_, bytes.data, bytes.size);
    at_ += bytes.size;
    sizes_.push_back(static_cast<std::uint32_t>(bytes.size));
    turn_.notify_all();
  }

  /// Releases waiting threads when a chunk will not be written.
  void fail() {
    const std::lock_guard<std::mutex> lock(mutex_);
    failed_ = true;
    turn_.notify_all();
  }

  std::uint64_t at() const { return at_; }
  const BulkVector<std::uint32_t>& sizes() const { return sizes_; }

 private:
  platform::File& file_;
  std::uint64_t at_;
  std::mutex mutex_;
  std::condition_variable turn_;
  bool failed_ = false;
  BulkVector<std::uint32_t> sizes_;
};

/// Source rows of the file rows [from, to).
class RowRange {
 public:
  RowRange(const las::RowBlocks& blocks, std::size_t source_rows)
      : blocks_(blocks), source_rows_(source_rows) {}

  void collect(std::uint64_t from, std::uint64_t to, std::vector<std::size_t>& rows) {
    rows.clear();
    const std::size_t grain = blocks_.grain(), count = (source_rows_ + grain - 1) / grain;
    std::size_t low = 0, high = count;  // the last block that starts at or before `from`
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      (blocks_.first(middle) <= from ? low : high) = middle;
    }
    for (std::size_t block = low; block < count && blocks_.first(block) < to; ++block) {
      blocks_.collect(block * grain, std::min(source_rows_, (block + 1) * grain), part_);
      const std::uint64_t first = blocks_.first(block);
      const auto begin =
          static_cast<std::size_t>(from > first ? std::min<std::uint64_t>(from - first, part_.size()) : 0);
      const auto end = static_cast<std::size_t>(std::min<std::uint64_t>(to - first, part_.size()));
      rows.insert(rows.end(), part_.data() + begin, part_.data() + end);
    }
  }

 private:
  const las::RowBlocks& blocks_;
  std::size_t source_rows_;
  std::vector<std::size_t> part_;
};

/// What one thread needs.
struct Worker {
  Worker(const LazItems& items, const las::RowBlocks& blocks, std::size_t source_rows)
      : encoder(items), range(blocks, source_rows), records(kTileRows * items.record_bytes) {}
  ChunkEncoder encoder;
  RowRange range;
  std::vector<std::size_t> rows;
  BulkVector<std::uint8_t> records;  ///< of a tile, which the first cache holds while it is encoded
  las::ReturnCounts returns{};
};

void write_table(platform::File& file, std::uint64_t points_offset, const OrderedChunks& chunks,
                 LazWritten& written) {
  const std::uint64_t table_at = chunks.at();
  const std::vector<std::uint8_t> table = chunk_table_bytes(chunks.sizes());
  file.write_at(table_at, table.data(), table.size());
  file.write_at(points_offset, &table_at, sizeof table_at);
  written.bytes = table_at + table.size() - points_offset;
}

}  // namespace

LazWritten write_points(const CloudView& view, const las::RecordPlan& plan, const las::RowBlocks& blocks,
                        const Vec3d& scale, const Vec3d& offset, std::uint64_t points_offset,
                        platform::File& file, OpContext& ctx) {
  const LazItems items = written_items(plan.point_format, plan.record_bytes);
  if (items.extra_bytes > kMaxExtraBytes) {
    throw Error(ErrorCode::kUnsupported, std::to_string(items.extra_bytes) +
                                             " bytes of extra columns a point; a LAZ file holds at most " +
                                             std::to_string(kMaxExtraBytes) +
                                             ". Choose fewer columns or LAS");
  }
  const std::uint64_t total = blocks.total(), chunk_rows = items.chunk_rows;
  const auto count = static_cast<std::size_t>((total + chunk_rows - 1) / chunk_rows);
  OrderedChunks chunks(file, points_offset + 8);
  std::vector<std::unique_ptr<Worker>> workers(static_cast<std::size_t>(ctx.threads()));
  ctx.begin_phase("Writing points", count);
  parallel_for_worker(ctx, count, 1, [&](std::size_t chunk, std::size_t, int index) {
    try {
      auto& worker = workers[static_cast<std::size_t>(index)];
      if (worker == nullptr) worker = std::make_unique<Worker>(items, blocks, view.positions.size);
      const std::uint64_t from = chunk * chunk_rows;
      worker->range.collect(from, std::min(total, from + chunk_rows), worker->rows);
      worker->encoder.start();
      for (std::size_t at = 0; at < worker->rows.size(); at += kTileRows) {
        const std::size_t rows = std::min(kTileRows, worker->rows.size() - at);
        las::encode_rows(view, plan, scale, offset, {worker->rows.data() + at, rows}, worker->records.data(),
                         worker->returns);
        worker->encoder.add(worker->records.data(), rows, ctx);
      }
      chunks.write(chunk, worker->encoder.finish());
    } catch (...) {
      chunks.fail();
      throw;
    }
  });
  LazWritten written;
  for (const auto& worker : workers) {
    for (std::size_t i = 0; worker != nullptr && i < written.returns.size(); ++i) {
      written.returns[i] += worker->returns[i];
    }
  }
  write_table(file, points_offset, chunks, written);
  return written;
}

}  // namespace pc::io::laz
