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

/// Where the bytes of a block go: to `at`, or to a buffer of the thread if that is empty; then `done` is called for them, by
/// several threads, in any order.
struct Target {
  std::function<std::byte*(std::uint64_t block)> at;
  std::function<void(std::uint64_t block, Span<const std::byte>)> done;
};

/// Packed bytes that are read at once, if each thread has a block.
constexpr std::size_t kBatchBytes = std::size_t{32} << 20;
constexpr std::size_t kBatchBlocks = 8;  ///< per thread: threads that wait for a disk do not stop the others

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

  /// Unpacks all blocks and verifies the end of the member.
  void unpack(const Target& target, OpContext& ctx) {
    ctx.begin_phase("Reading column", header_.blocks());
    const auto threads = static_cast<std::size_t>(std::min(ctx.threads(), kMostThreads));
    workers_.resize(threads);
    const std::size_t most = ctx.threads() > kMostThreads ? threads : kBatchBlocks * threads;
    for (std::uint64_t block = 0; block < header_.blocks();) {
      ctx.checkpoint();
      const std::vector<Stream> streams = next_batch(block, most);
      inflate(streams, target, ctx);
      block += streams.size();
    }
    if (at_ != member_.bytes) damaged("bytes behind its last block");
    if (crc_ != member_.crc32) damaged("its CRC-32 differs");
  }

 private:
  struct Worker {
    Inflater inflater;
    BulkVector<std::byte> filtered, values;
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

  /// Reads the streams of the next blocks: one for each thread, and up to `most` while they are small.
  std::vector<Stream> next_batch(std::uint64_t block, std::size_t most) {
    std::vector<Stream> streams;
    const std::uint64_t begin = at_;
    const auto more = [&] {
      return streams.size() < workers_.size() || (streams.size() < most && at_ - begin < kBatchBytes);
    };
    while (block < header_.blocks() && more()) {
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
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint64_t block = streams[i].block;
        const auto bytes = static_cast<std::size_t>(header_.block_bytes(block));
        if (!target.at) worker->values.resize(bytes);
        std::byte* const out = target.at ? target.at(block) : worker->values.data();
        inflate_one(*worker, streams[i], out, ctx);
        target.done(block, {out, bytes});
      }
    });
  }

  void inflate_one(Worker& worker, const Stream& stream, std::byte* out, const OpContext& ctx) const {
    const auto bytes = static_cast<std::size_t>(header_.block_bytes(stream.block));
    const Span<const std::byte> packed{packed_.data() + stream.from, stream.length};
    if (header_.filter == ColumnFilter::kNone) {
      if (!worker.inflater.inflate(packed, {out, bytes})) damaged("a block does not have its length");
      return;
    }
    worker.filtered.resize(bytes);
    if (!worker.inflater.inflate(packed, worker.filtered.view())) damaged("a block does not have its length");
    unfilter_rows(header_.filter, header_.dtype, worker.filtered.view(), out, ctx);
  }

  MemberRange member_;
  platform::File file_;
  ZcolHeader header_{};
  std::uint64_t at_ = 0;  ///< in the member
  std::uint32_t crc_ = 0;
  BulkVector<std::byte> packed_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

AnyColumn read_zcol(const MemberRange& member, std::optional<std::uint64_t> rows, OpContext& ctx) {
  ZcolReader reader(member, rows, ctx);
  const ZcolHeader& header = reader.header();
  AnyColumn column(header.dtype, static_cast<std::size_t>(header.rows));
  const std::uint64_t block = header.block_rows * header.row_bytes();
  reader.unpack({[&](std::uint64_t number) { return column.data() + number * block; },
                 [](std::uint64_t, Span<const std::byte>) {}},
                ctx);
  return column;
}

std::uint64_t unpack_zcol(const MemberRange& member, std::optional<std::uint64_t> rows,
                          const std::string& path, OpContext& ctx) {
  ZcolReader reader(member, rows, ctx);
  const ZcolHeader& header = reader.header();
  ColumnFileWriter file(path, header.dtype, header.rows);
  const std::uint64_t block_bytes = header.block_rows * header.row_bytes();
  reader.unpack({nullptr, [&](std::uint64_t block,
                              Span<const std::byte> bytes) { file.write(block * block_bytes, bytes); }},
                ctx);
  file.seal();
  return reader.header().rows;
}

std::uint64_t verify_zcol(const MemberRange& member, std::optional<std::uint64_t> rows, OpContext& ctx) {
  ZcolReader reader(member, rows, ctx);
  reader.unpack({nullptr, [](std::uint64_t, Span<const std::byte>) {}}, ctx);
  return reader.header().rows;
}

}  // namespace pc::io
