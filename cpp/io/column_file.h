#pragma once
#include <string>

#include "core/column.h"
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
/// | 24 | 8 | u64 | checksum of the data: checksum_bytes |
/// | 32 | 8 | u64 | checksum of bytes 0..31 |
/// | 40 | 24 | zero | padding, so that the data is 64-byte aligned when mapped |
/// | 64 | | | the elements |
constexpr std::uint64_t kColumnFileHeader = 64;

/// Writes a column. When it returns, the file is complete in the page cache and survives the end of the process;
/// `sync_column_file` makes it survive a power failure. Errors: kNoSpace, kIo.
void write_column_file(const AnyColumn& column, const std::string& path, OpContext& ctx);

/// Writes the header of a file whose elements were written from byte kColumnFileHeader on, in any order, and closes it:
/// for columns too large for the memory. Reads them once, for the checksum. Memory 1 MiB per thread. Cancel within 8 MiB.
/// Errors: kNoSpace, kIo; kInternal if the file does not end with the last element.
void seal_column_file(platform::File& file, DType dtype, std::uint64_t count, OpContext& ctx);

/// Maps a column file. Errors: kNotFound, kInvalidFile (wrong magic, version, type, header checksum or length).
AnyColumn map_column_file(const std::string& path);

/// Flushes a written column file to the disk.
void sync_column_file(const std::string& path);

/// Reads the whole file and compares its checksum; false if a byte differs. Errors: those of map_column_file; kIo if it
/// cannot be read now. Memory 1 MiB per thread. Cancel within 8 MiB.
bool verify_column_file(const std::string& path, OpContext& ctx);

/// 64-bit checksum, independent of the thread count: blocks of 1 MiB, each mixed in 8-byte words, combined in order. It
/// detects damage, not manipulation.
std::uint64_t checksum_bytes(Span<const std::byte> bytes, OpContext& ctx);

}  // namespace pc::io
