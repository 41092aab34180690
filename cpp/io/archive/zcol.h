#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/column.h"
#include "core/op_context.h"
#include "io/archive/zcol_header.h"

namespace pc::io {

/// A filter, and how small it makes a sample.
struct FilterChoice {
  ColumnFilter filter;
  double ratio;  ///< deflated bytes by raw bytes; 0 for an empty column
};

/// The filter for a column: that whose deflated sample is smallest, the simplest one of equals.
///
/// column   any type and length.
/// Order    A function of the values alone.
/// Cost     Deflates up to 131,072 rows three times: four stretches of 32,768 rows, evenly spread from the first on, because
///          the first rows of a scan are often unlike the rest.
/// Cancel   Within one stretch of 0.8 MB.
/// Errors   None.
/// Source   Measured sizes; a single byte has no planes, so kShuffle is no candidate there.
FilterChoice choose_filter(const AnyColumn& column, OpContext& ctx);

/// Header of a column as it is written: blocks of kZcolBlock bytes, at least one row.
ZcolHeader zcol_header_of(const AnyColumn& column, ColumnFilter filter);

/// Blocks [first, first + count) of a column, each with its length, as they stand in the file.
///
/// Order    Bytes do not depend on the number of threads.
/// Cost     One pass; memory: the result, at its bound, and a block per thread.
/// Cancel   Within the deflation of a block of 8 MiB (50 ms).
/// Errors   kInvalidArgument for blocks that the column does not have.
/// Source   libdeflate level 1.
Column<std::uint8_t> zcol_blocks(const AnyColumn& column, const ZcolHeader& header, std::uint64_t first,
                                 std::uint64_t count, OpContext& ctx);

/// A member of an archive that is stored as it is.
struct MemberRange {
  std::string archive;   ///< path
  std::uint64_t offset;  ///< of its first byte
  std::uint64_t bytes;
  std::uint32_t crc32;
};

/// The column in a member: every header, length, stream and the CRC-32 of the whole are verified.
///
/// rows     How many the column must have; nothing = any number.
/// Cost     Reads the member once; memory: the column, 40 MiB, and a block for each of up to 8 threads (8 MiB, up to
///          64 MiB for files of others).
/// Cancel   Within one block: 150 ms for the largest that is read.
/// Errors   kInvalidFile for damage, naming the rule; a file too small for what it declares is refused before memory is
///          taken for it.
AnyColumn read_zcol(const MemberRange& member, std::optional<std::uint64_t> rows, OpContext& ctx);

/// Like read_zcol, straight into a column file (column_file.h) at `path`: two blocks a thread instead of the column.
/// Returns the number of rows. Errors: also kNoSpace, kIo. A file that was begun stays; the caller removes it.
std::uint64_t unpack_zcol(const MemberRange& member, std::optional<std::uint64_t> rows,
                          const std::string& path, OpContext& ctx);

/// Like unpack_zcol, without a file. Returns the number of rows.
std::uint64_t verify_zcol(const MemberRange& member, std::optional<std::uint64_t> rows, OpContext& ctx);

}  // namespace pc::io
