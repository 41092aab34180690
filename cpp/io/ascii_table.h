#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/op_context.h"
#include "io/cloud_table.h"

namespace pc::io {

enum class TextDelimiter : std::uint8_t { kComma, kSemicolon, kTab, kWhitespace };

/// How a text column chooses its element type.
enum class TextColumnType : std::uint8_t {
  kAuto,   ///< whole numbers: first of u8 i8 u16 i16 u32 i32 u64 i64 that holds them; else as kFloat
  kFloat,  ///< float32 when that gives every digit of the text back, else float64
  kF64,    ///< float64 (timestamps, beam origins)
};

/// A column to read besides the positions.
struct TextColumn {
  std::uint32_t index;  ///< 0-based column of the file
  std::string name;     ///< what messages and the result call it
  TextColumnType type;
};

/// The layout of a text file, decided by the caller from sample_text.
struct TextReadParams {
  TextDelimiter delimiter;
  bool decimal_comma;                       ///< "1,5" is one and a half; not with kComma
  std::uint64_t skip_lines;                 ///< physical lines before the data, whatever they hold
  std::uint32_t expected_columns;           ///< columns a complete row has, >= 3
  std::uint32_t x_index, y_index, z_index;  ///< 0-based, distinct, < expected_columns
  std::vector<TextColumn> columns;          ///< distinct indices < expected_columns, none of them x, y or z
  PositionFrame frame;
  std::uint64_t max_rows;  ///< stop after this many kept rows; 0 = read all
};

/// The head of a text file: enough to detect the layout.
struct TextSample {
  std::vector<std::string> lines;  ///< whole lines from the start, without line ends and byte order mark
  std::uint64_t file_bytes;
  bool complete;  ///< `lines` is the whole file
};

/// Longest line either function accepts.
inline constexpr std::size_t kMaxTextLineBytes = std::size_t{16} << 20;
/// Text that one worker holds at a time.
inline constexpr std::size_t kTextChunkBytes = std::size_t{4} << 20;

/// First lines of a text file, at most `max_lines` and 1 MiB (16 MiB when the first line alone is longer than
/// 1 MiB).
///
/// Lines end with LF, CRLF or CR, whichever ends the first line.
/// Errors   kNotFound, kIo; kInvalidFile when the head is UTF-16 or UTF-32, holds a NUL byte (binary), or its
/// first
///          line is longer than kMaxTextLineBytes.
TextSample sample_text(const std::string& path, std::size_t max_lines, OpContext& ctx);

/// Text table: one point a row, columns separated as `params` says.
///
/// Rows     Blank lines and lines that start with '#' or "//" are left out. A row without three numbers for
/// x, y and z
///          is dropped (malformed_dropped); one whose position is NaN or infinite, as read or in the stored
///          frame, too (nonfinite_dropped). Missing columns are NaN; surplus ones are ignored. Warnings name
///          the first lines.
/// Numbers  Fields may be quoted. Any decimal number, exponent e or d; nan, inf, na, n/a, null in any case;
/// bit for bit
///          what strtod reads. An empty or non-numeric field of another column is NaN, counted in a warning;
///          a column without a single number is left out with a warning.
/// Result   positions in the stored frame, float64; the requested columns in the given order, `extra` set.
/// Order    Rows in file order; the result does not depend on threads or on how the file is cut into chunks.
/// Cost     One pass over the file; memory: the result, its packed copy while it is joined (given back chunk
/// by chunk),
///          and about 6 MiB a thread. A file that needs more than 64 MiB + 20 times its size for both is
///          refused.
/// Cancel   Within 250 ms; no partial result.
/// Errors   kInvalidArgument for a layout that contradicts itself; kNotFound, kIo; kInvalidFile as
/// sample_text, when no
///          row is valid, when a requested column is beyond every row, when a line is longer than
///          kMaxTextLineBytes, or when most of a very large table would be holes.
/// Source   The column type rule is the project's own; number parsing: see io/decimal.h.
CloudTable read_text(const std::string& path, const TextReadParams& params, OpContext& ctx);

/// As above with another chunk size (bytes, >= 1): tests cut small files at every place.
CloudTable read_text(const std::string& path, const TextReadParams& params, std::size_t chunk_bytes,
                     OpContext& ctx);

}  // namespace pc::io
