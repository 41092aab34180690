#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "core/platform.h"

namespace pc::io {

/// A column file of the session store. Little-endian:
///
/// | offset | size | type | meaning |
/// |---|---|---|---|
/// | 0  | 4 | bytes | magic `PCOL` |
/// | 4  | 4 | u32 | version, 1 |
/// | 8  | 8 | chars | element type (dtype_name), zero-padded |
/// | 16 | 8 | u64 | element count |
/// | 24 | 8 | u64 | checksum of the data: blocks of 1 MiB, each mixed in 8-byte words, combined in order; it detects damage, not manipulation |
/// | 32 | 8 | u64 | checksum of bytes 0..31 |
/// | 40 | 24 | zero | padding, so that the data is 64-byte aligned when mapped |
/// | 64 | | | the elements |
constexpr std::uint64_t kColumnFileHeader = 64;

/// Writes a column. When it returns, the file is complete in the page cache and survives the end of the process;
/// `sync_column_file` makes it survive a power failure. Errors: kNoSpace, kIo.
void write_column_file(const AnyColumn& column, const std::string& path, OpContext& ctx);

/// Writes a column that is never in memory as a whole. What it began stays after a failure; the caller removes it.
class ColumnFileWriter {
 public:
  /// Errors: kNoSpace, kIo.
  ColumnFileWriter(const std::string& path, DType dtype, std::uint64_t count);

  /// Writes bytes of the elements from byte `at` of them on. Several threads may write at once, in any order, each byte once.
  /// Memory: 1 MiB for each block of the checksum that is begun and not complete. Errors: kNoSpace, kIo.
  void write(std::uint64_t at, Span<const std::byte> bytes);

  /// Writes the header and closes the file. Errors: kNoSpace, kIo; kInternal if a byte is missing.
  void seal();

 private:
  /// A block of the checksum of which a part was written.
  struct Part {
    BulkVector<std::byte> bytes;
    std::size_t filled = 0;
  };
  void add_part(std::uint64_t block, std::size_t size, std::size_t from, Span<const std::byte> bytes);

  platform::File file_;
  DType dtype_;
  std::uint64_t count_;
  std::uint64_t bytes_;
  std::vector<std::uint64_t> sums_;       ///< of the blocks
  std::atomic<std::uint64_t> summed_{0};  ///< bytes
  std::mutex mutex_;
  std::map<std::uint64_t, Part> parts_;
};

/// Maps a column file. Errors: kNotFound, kInvalidFile (wrong magic, version, type, header checksum or length).
AnyColumn map_column_file(const std::string& path);

/// The checksum of the data that `write_column_file` stores with this column. One pass over the data, no memory. Cancel within
/// 8 MiB.
std::uint64_t column_checksum(const AnyColumn& column, OpContext& ctx);

/// The checksum of the data in the header of a file; the data is not read. Errors: those of map_column_file.
std::uint64_t stored_checksum(const std::string& path);

/// Flushes a written column file to the disk.
void sync_column_file(const std::string& path);

/// Reads the whole file and compares its checksum; false if a byte differs. Errors: those of map_column_file; kIo if it
/// cannot be read now. Memory 1 MiB per thread. Cancel within 8 MiB.
bool verify_column_file(const std::string& path, OpContext& ctx);

}  // namespace pc::io
