#include "io/column_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/platform.h"

namespace pc::io {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr std::size_t kVerifyBlocks = 8;  // share one buffer
constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15ULL;

std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * kMultiplier;
  return state ^ (state >> 29);
}

std::uint64_t checksum_block(const std::byte* data, std::size_t bytes) {
  // Four lanes hide the latency of the multiplication, which takes several cycles.
  std::array<std::uint64_t, 4> lanes{1, 2, 3, 4};
  std::size_t at = 0;
  for (; at + 32 <= bytes; at += 32) {
    std::array<std::uint64_t, 4> words{};
    std::memcpy(words.data(), data + at, 32);
    for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] = mix(lanes[lane], words[lane]);
  }
  for (; at < bytes; ++at) lanes[0] = mix(lanes[0], static_cast<std::uint64_t>(data[at]));
  std::uint64_t sum = mix(kMultiplier, bytes);
  for (const auto lane : lanes) sum = mix(sum, lane);
  return sum;
}

using Header = std::array<std::byte, kColumnFileHeader>;

std::uint64_t header_checksum(const Header& header) { return checksum_block(header.data(), 32); }

template <class T>
void put(Header& header, std::size_t offset, const T& value) {
  std::memcpy(header.data() + offset, &value, sizeof value);
}
template <class T>
T take(const Header& header, std::size_t offset) {
  T value;
  std::memcpy(&value, header.data() + offset, sizeof value);
  return value;
}

struct Parsed {
  DType dtype;
  std::uint64_t count;
  std::uint64_t checksum;
};

Parsed read_header(const platform::File& file) {
  Header header{};
  const auto damaged = [&](const char* why) {
    return Error(ErrorCode::kInvalidFile, file.path() + ": damaged column file: " + why);
  };
  if (file.read_at(0, header.data(), header.size()) != header.size())
    throw damaged("shorter than its header");
  if (std::memcmp(header.data(), "PCOL", 4) != 0) throw damaged("wrong magic");
  if (take<std::uint32_t>(header, 4) != 1) throw damaged("unknown version");
  if (take<std::uint64_t>(header, 32) != header_checksum(header)) throw damaged("header checksum differs");
  std::array<char, 9> name{};
  std::memcpy(name.data(), header.data() + 8, 8);
  const Parsed parsed{parse_dtype(name.data()), take<std::uint64_t>(header, 16),
                      take<std::uint64_t>(header, 24)};
  if (file.size() != kColumnFileHeader + checked_bytes(parsed.count, dtype_size(parsed.dtype)))
    throw damaged("wrong length");
  return parsed;
}

Header header_of(const Parsed& column) {
  Header header{};
  std::memcpy(header.data(), "PCOL", 4);
  put(header, 4, std::uint32_t{1});
  std::memcpy(header.data() + 8, dtype_name(column.dtype), std::strlen(dtype_name(column.dtype)));
  put(header, 16, column.count);
  put(header, 24, column.checksum);
  put(header, 32, header_checksum(header));
  return header;
}

/// The checksum of a column whose blocks have these sums.
std::uint64_t combined(std::uint64_t bytes, const std::vector<std::uint64_t>& sums) {
  std::uint64_t sum = mix(kMultiplier, bytes);
  for (const auto block_sum : sums) sum = mix(sum, block_sum);
  return sum;
}

/// Combines the sums of the blocks in order. `sum_blocks` sets those from `begin` to `end`.
template <class SumBlocks>
std::uint64_t checksum_blocks(std::uint64_t bytes, std::size_t grain, OpContext& ctx,
                              SumBlocks&& sum_blocks) {
  const auto blocks = static_cast<std::size_t>((bytes + kBlock - 1) / kBlock);
  std::vector<std::uint64_t> sums(blocks);
  parallel_for(ctx, blocks, grain,
               [&](std::size_t begin, std::size_t end) { sum_blocks(begin, end, sums.data()); });
  return combined(bytes, sums);
}

/// Checksum of the elements in a file. Read, not mapped: a sector that cannot be read is an error here and ends the process
/// there.
std::uint64_t checksum_file(const platform::File& file, std::uint64_t bytes, OpContext& ctx) {
  return checksum_blocks(
      bytes, kVerifyBlocks, ctx, [&](std::size_t begin, std::size_t end, std::uint64_t* sums) {
        BulkVector<std::byte> data(kBlock);
        for (std::size_t block = begin; block < end; ++block) {
          const std::uint64_t at = std::uint64_t{block} * kBlock;
          const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, bytes - at));
          const std::size_t read = file.read_at(kColumnFileHeader + at, data.data(), size);
          sums[block] = checksum_block(data.data(), read);  // of a file that was cut meanwhile: of less
        }
      });
}

}  // namespace

void write_column_file(const AnyColumn& column, const std::string& path, OpContext& ctx) {
  platform::File file = platform::File::create(path);
  const std::size_t bytes = column.bytes();
  std::vector<std::uint64_t> sums;
  sums.reserve((bytes + kBlock - 1) / kBlock);
  for (std::size_t at = 0; at < bytes; at += kBlock) {  // summed and written while it is in the caches
    ctx.checkpoint();
    const std::size_t size = std::min(kBlock, bytes - at);
    sums.push_back(checksum_block(column.data() + at, size));
    file.write_at(kColumnFileHeader + at, column.data() + at, size);
  }
  const Header header = header_of({column.dtype(), column.size(), combined(bytes, sums)});
  file.write_at(0, header.data(), header.size());
  file.close_checked();
}

ColumnFileWriter::ColumnFileWriter(const std::string& path, DType dtype, std::uint64_t count)
    : file_(platform::File::create(path)),
      dtype_(dtype),
      count_(count),
      bytes_(checked_bytes(count, dtype_size(dtype))),
      sums_(static_cast<std::size_t>((bytes_ + kBlock - 1) / kBlock)) {}

void ColumnFileWriter::write(std::uint64_t at, Span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::uint64_t end = at + bytes.size;
  require(at <= bytes_ && end <= bytes_, "bytes beyond the last element");
  file_.write_at(kColumnFileHeader + at, bytes.data, bytes.size);
  for (std::uint64_t block = at / kBlock; block * kBlock < end; ++block) {
    const std::uint64_t begin = block * kBlock;
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, bytes_ - begin));
    const std::uint64_t from = std::max(begin, at), to = std::min(begin + size, end);
    const Span<const std::byte> part{bytes.data + (from - at), static_cast<std::size_t>(to - from)};
    if (part.size < size) {
      add_part(block, size, static_cast<std::size_t>(from - begin), part);
      continue;
    }
    sums_[static_cast<std::size_t>(block)] = checksum_block(part.data, size);
    summed_ += size;
  }
}

void ColumnFileWriter::add_part(std::uint64_t block, std::size_t size, std::size_t from,
                                Span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  Part& part = parts_[block];
  part.bytes.resize(size);
  std::memcpy(part.bytes.data() + from, bytes.data, bytes.size);
  part.filled += bytes.size;
  if (part.filled < size) return;
  sums_[static_cast<std::size_t>(block)] = checksum_block(part.bytes.data(), size);
  summed_ += size;
  parts_.erase(block);
}

void ColumnFileWriter::seal() {
  if (summed_ != bytes_) throw Error(ErrorCode::kInternal, file_.path() + ": not every element was written");
  const Header header = header_of({dtype_, count_, combined(bytes_, sums_)});
  file_.write_at(0, header.data(), header.size());
  file_.close_checked();
}

AnyColumn map_column_file(const std::string& path) {
  const Parsed parsed = read_header(platform::File::open_read(path));
  return AnyColumn::map_file(path, kColumnFileHeader, parsed.dtype, static_cast<std::size_t>(parsed.count));
}

std::uint64_t column_checksum(const AnyColumn& column, OpContext& ctx) {
  const std::size_t bytes = column.bytes();
  return checksum_blocks(bytes, kVerifyBlocks, ctx,
                         [&](std::size_t begin, std::size_t end, std::uint64_t* sums) {
                           for (std::size_t block = begin; block < end; ++block) {
                             const std::size_t at = block * kBlock;
                             sums[block] = checksum_block(column.data() + at, std::min(kBlock, bytes - at));
                           }
                         });
}

std::uint64_t stored_checksum(const std::string& path) {
  return read_header(platform::File::open_read(path)).checksum;
}

void sync_column_file(const std::string& path) { platform::File::sync_path(path); }

bool verify_column_file(const std::string& path, OpContext& ctx) {
  const platform::File file = platform::File::open_read(path);
  const Parsed parsed = read_header(file);
  const std::uint64_t bytes = checked_bytes(parsed.count, dtype_size(parsed.dtype));
  const std::uint64_t sum = checksum_file(file, bytes, ctx);
  return sum == parsed.checksum;
}

}  // namespace pc::io
