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
  kAuto,   ///< whole numbers: first of u8 i8 u16 i16 u32 i32 u64 i64 that fits; otherwise as kFloat
  kFloat,  ///< float32 if that reproduces every digit of the text, otherwise float64
  kF64,    ///< float64 (timestamps, beam origins)
};

/// A column to read in addition to the positions.
struct TextColumn {
  std::uint32_t index;  ///< 0-based column of the file
  std::string name;     ///< its name in messages and in the result
  TextColumnType type;
};

/// The layout of a text file, chosen by the caller after sample_text.
struct TextReadParams {
  TextDelimiter delimiter;
  bool decimal_comma;                       ///< "1,5" means one and a half; not with kComma
  std::uint64_t skip_lines;                 ///< physical lines before the data, whatever they contain
  std::uint32_t expected_columns;           ///< number of columns of a complete row, >= 3
  std::uint32_t x_index, y_index, z_index;  ///< 0-based, distinct, < expected_columns
  std::vector<TextColumn> columns;          ///< distinct indices < expected_columns, none of them x, y or z
  PositionFrame frame;
  std::uint64_t max_rows;  ///< stop after this many kept rows; 0 = read all
};

/// The head of a text file, sufficient to detect the layout.
struct TextSample {
  std::vector<std::string> lines;  ///< whole lines from the start, without line ends or byte order mark
  std::uint64_t file_bytes;
  bool complete;  ///< true if `lines` is the whole file
};

/// Longest line that both functions accept.
inline constexpr std::size_t kMaxTextLineBytes = std::size_t{16} << 20;
/// Amount of text that one worker holds at a time.
inline constexpr std::size_t kTextChunkBytes = std::size_t{1} << 20;

/// First lines of a text file, at most `max_lines` and 1 MiB (16 MiB if the first line alone is longer than 1 MiB).
///
/// Lines end with LF, CRLF or CR, whichever ends the first line.
/// Errors   kNotFound, kIo; kInvalidFile if the head is UTF-16 or UTF-32, contains a NUL byte (binary), or its first
///          line is longer than kMaxTextLineBytes.
TextSample sample_text(const std::string& path, std::size_t max_lines, OpContext& ctx);

/// Reads a text table with one point per row; `params` defines the layout.
///
/// Rows     Blank lines and lines that start with '#' or "//" are left out. Rows without three numbers for x, y and z
///          are dropped (malformed_dropped), and so are rows whose position is NaN or infinite, as read or in the
///          stored frame (nonfinite_dropped). Missing columns are NaN; surplus columns are ignored. Warnings name the
///          first lines.
/// Numbers  Fields may be quoted. Any decimal number, with exponent e or d; nan, inf, na, n/a, null in any case; with
///          the same bits as strtod. An empty or non-numeric field of another column is NaN, counted in a warning; a
///          column without any number is left out with a warning.
/// Result   Positions in the stored frame, float64; the requested columns in the given order, with `extra` set.
/// Order    Rows in file order; the result does not depend on threads or on the division of the file into chunks.
/// Cost     O(bytes) time: one pass over the file. Memory: the result, a packed copy of the columns other than the
///          positions while they are joined (freed chunk by chunk), and about 8 MiB per thread. A file that needs more
///          than 64 MiB + 20 times its size for both is rejected.
/// Cancel   Within 250 ms; no partial result.
/// Errors   kInvalidArgument for a layout that contradicts itself; kNotFound, kIo; kInvalidFile as in sample_text, if
///          no row is valid, if no row has a requested column, if a line is longer than kMaxTextLineBytes, or if most
///          values of a very large table are missing.
/// Source   The column type rule is the project's own; number parsing: see io/decimal.h.
CloudTable read_text(const std::string& path, const TextReadParams& params, OpContext& ctx);

/// The same with another chunk size (bytes, >= 1), so that tests can cut small files at every position.
CloudTable read_text(const std::string& path, const TextReadParams& params, std::size_t chunk_bytes,
                     OpContext& ctx);

}  // namespace pc::io
