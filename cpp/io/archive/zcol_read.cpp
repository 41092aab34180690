#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "core/deflate.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/platform.h"
#include "io/archive/column_filter.h"
#include "io/archive/zcol.h"
#include "io/column_file.h"

namespace pc::io {

namespace {

constexpr std::uint64_t kLength = 4;  ///< bytes of a block's length
constexpr int kMostThreads = 8;       ///< each needs its own buffers

[[noreturn]] void damaged(const char* why) {
  throw Error(ErrorCode::kInvalidFile, std::string("damaged column: ") + why);
}

/// A deflate stream of one block.
struct Stream {
  std::uint64_t block;
  std::size_t from, length;  ///< in the bytes of the batch
};

/// Where the bytes of a batch of blocks go: `at` of each block, then `done` once they are complete.
struct Target {
  std::function<std::byte*(std::uint64_t block, std::size_t number)> at;
  std::function<void(std::uint64_t first, std::size_t count)> done;
};

class ZcolReader {
 public:
  ZcolReader(const MemberRange& member, std::optional<std::uint64_t> rows, OpContext& ctx)
      : member_(member), file_(platform::File::open_read(member.archive)) {
    if (member.offset > file_.size() || member.bytes > file_.size() - member.offset)
      damaged("it ends behind its archive");
    read_header(ctx);
    if (rows && header_.rows != *rows) {
      throw Error(ErrorCode::kInvalidFile,
                  "damaged column: " + std::to_string(header_.rows) + " rows, not " + std::to_string(*rows));
    }
    check_size();
  }

  const ZcolHeader& header() const { return header_; }

  /// Unpacks all blocks, in batches of `batch` blocks at most, and verifies the end of the member.
  void unpack(std::size_t batch, const Target& target, OpContext& ctx) {
    ctx.begin_phase("Reading column", header_.blocks());
    workers_.resize(static_cast<std::size_t>(std::min(ctx.threads(), kMostThreads)));
    for (std::uint64_t block = 0; block < header_.blocks();) {
      ctx.checkpoint();
      const std::uint64_t first = block;
      const std::vector<Stream> streams = next_batch(block, batch);
      inflate(streams, target, ctx);
      block += streams.size();
      target.done(first, streams.size());
    }
    if (at_ != member_.bytes) damaged("bytes behind its last block");
    if (crc_ != member_.crc32) damaged("its CRC-32 differs");
  }

 private:
  struct Worker {
    Inflater inflater;
    BulkVector<std::byte> filtered;
  };

  void read(std::uint64_t at, std::byte* out, std::size_t bytes) const {
    if (file_.read_at(member_.offset + at, out, bytes) != bytes) damaged("its archive is cut");
  }

  void read_header(OpContext& ctx) {
    std::array<std::byte, kZcolPrefix + kMaxZcolHeader> bytes{};
    if (member_.bytes < kZcolPrefix) damaged("shorter than its header");
    read(0, bytes.data(), kZcolPrefix);
    if (!has_zcol_tag(bytes.data())) damaged("it does not begin with its tag");
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data() + kZcolTag, sizeof length);
    if (length > kMaxZcolHeader || length > member_.bytes - kZcolPrefix) damaged("the length of its header");
    read(kZcolPrefix, bytes.data() + kZcolPrefix, length);
    header_ = parse_zcol_header({reinterpret_cast<const char*>(bytes.data()) + kZcolPrefix, length}, ctx);
    at_ = kZcolPrefix + length;
    crc_ = crc32(0, {bytes.data(), static_cast<std::size_t>(at_)});
  }

  /// Refuses what the bytes cannot hold, before memory is taken for it.
  void check_size() const {
    const std::uint64_t held = (member_.bytes - at_) * kMostInflation;  // a member is smaller than 2^53
    const std::uint64_t row = header_.row_bytes();
    if (header_.rows > held / row) damaged("too short for its rows");
    const std::uint64_t block_rows = std::min(header_.block_rows, header_.rows);
    if (block_rows > 1 && block_rows > kMaxZcolBlock / row) damaged("its blocks are larger than 64 MiB");
  }

  /// Reads the streams of the next blocks, at least one.
  std::vector<Stream> next_batch(std::uint64_t block, std::size_t most) {
    std::vector<Stream> streams;
    const std::uint64_t begin = at_;
    while (streams.size() < most && block < header_.blocks()) {
      std::uint32_t length = 0;
      if (member_.bytes - at_ < kLength) damaged("a block is missing");
      read(at_, reinterpret_cast<std::byte*>(&length), kLength);
      at_ += kLength;
      if (length > member_.bytes - at_) damaged("the length of a block");
      const std::uint64_t bytes = header_.block_bytes(block);
      if (bytes > length * kMostInflation) damaged("a block is too short for its rows");
      if (length > Deflater::bound(static_cast<std::size_t>(bytes)) + bytes)
        damaged("a block is too long for its rows");
      streams.push_back({block, static_cast<std::size_t>(at_ - begin), length});
      at_ += length;
      ++block;
    }
    const auto size = static_cast<std::size_t>(at_ - begin);
    packed_.resize(size);
    read(begin, packed_.data(), size);
    crc_ = crc32(crc_, packed_.view());
    return streams;
  }

  void inflate(const std::vector<Stream>& streams, const Target& target, OpContext& ctx) {
    parallel_for_worker(ctx, streams.size(), 1, [&](std::size_t begin, std::size_t end, int thread) {
      auto& worker = workers_[static_cast<std::size_t>(thread)];
      if (!worker) worker = std::make_unique<Worker>();
      for (std::size_t i = begin; i < end; ++i)
        inflate_one(*worker, streams[i], target.at(streams[i].block, i));
    });
  }

  void inflate_one(Worker& worker, const Stream& stream, std::byte* out) const {
    const auto bytes = static_cast<std::size_t>(header_.block_bytes(stream.block));
    const Span<const std::byte> packed{packed_.data() + stream.from, stream.length};
    if (header_.filter == ColumnFilter::kNone) {
      if (!worker.inflater.inflate(packed, {out, bytes})) damaged("a block does not have its length");
      return;
    }
    worker.filtered.resize(bytes);
    if (!worker.inflater.inflate(packed, worker.filtered.view())) damaged("a block does not have its length");
    unfilter_rows(header_.filter, header_.dtype, worker.filtered.view(), out);
  }

  MemberRange member_;
  platform::File file_;
  ZcolHeader header_{};
  std::uint64_t at_ = 0;  ///< in the member
  std::uint32_t crc_ = 0;
  BulkVector<std::byte> packed_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

/// Blocks that are unpacked at once.
std::size_t batch_of(const OpContext& ctx) {
  return static_cast<std::size_t>(std::min(ctx.threads(), kMostThreads));
}

/// Calls done(first, bytes of the blocks) for every batch.
void unpack_batches(ZcolReader& reader, OpContext& ctx,
                    const std::function<void(std::uint64_t byte, Span<const std::byte>)>& done) {
  const ZcolHeader& header = reader.header();
  if (header.rows == 0) return reader.unpack(1, {nullptr, nullptr}, ctx);
  const auto block = static_cast<std::size_t>(header.block_bytes(0));
  const std::size_t batch = batch_of(ctx);
  BulkVector<std::byte> buffer(checked_bytes(std::min<std::uint64_t>(batch, header.blocks()), block));
  const auto finish = [&](std::uint64_t first, std::size_t count) {
    const std::uint64_t last = first + count - 1;
    const std::uint64_t bytes = (last - first) * block + header.block_bytes(last);
    done(first * block, {buffer.data(), static_cast<std::size_t>(bytes)});
  };
  reader.unpack(batch,
                {[&](std::uint64_t, std::size_t number) { return buffer.data() + number * block; }, finish},
                ctx);
}

}  // namespace

AnyColumn read_zcol(const MemberRange& member, std::optional<std::uint64_t> rows, OpContext& ctx) {
  ZcolReader reader(member, rows, ctx);
  const ZcolHeader& header = reader.header();
  AnyColumn column(header.dtype, static_cast<std::size_t>(header.rows));
  const std::uint64_t block = header.block_rows * header.row_bytes();
  reader.unpack(batch_of(ctx),
                {[&](std::uint64_t number, std::size_t) { return column.data() + number * block; },
                 [](std::uint64_t, std::size_t) {}},
                ctx);
  return column;
}

std::uint64_t unpack_zcol(const MemberRange& member, std::optional<std::uint64_t> rows,
                          const std::string& path, OpContext& ctx) {
  ZcolReader reader(member, rows, ctx);
  platform::File file = platform::File::create(path);
  unpack_batches(reader, ctx, [&](std::uint64_t byte, Span<const std::byte> bytes) {
    file.write_at(kColumnFileHeader + byte, bytes.data, bytes.size);
  });
  seal_column_file(file, reader.header().dtype, reader.header().rows, ctx);
  return reader.header().rows;
}

std::uint64_t verify_zcol(const MemberRange& member, std::optional<std::uint64_t> rows, OpContext& ctx) {
  ZcolReader reader(member, rows, ctx);
  unpack_batches(reader, ctx, [](std::uint64_t, Span<const std::byte>) {});
  return reader.header().rows;
}

}  // namespace pc::io
