#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/platform.h"
#include "io/record_table.h"

namespace pc::io {

/// One value (or list) of a text row, in file order.
struct TextToken {
  DType type;                 ///< the declared type; a value that does not fit makes the row malformed
  bool is_list = false;       ///< a count, then that many values; skipped
  std::size_t field = 0;      ///< field of the table that gets the value; unused for lists
  bool packed_color = false;  ///< the kU32 field gets the bits of the float or integer in the text
};

/// Position of the rows of a text body and the rows to read. Blank lines do not count as rows.
struct TextBody {
  std::uint64_t offset;          ///< first byte of the body
  std::uint64_t first_line;      ///< 1-based line number of that byte, for messages
  char line_end;                 ///< '\n' ('\r' before it is blank), or '\r' for files that use it alone
  std::uint64_t skip_rows;       ///< rows of other elements before the declared ones
  std::uint64_t declared_rows;   ///< number of rows in the header
  std::uint64_t following_rows;  ///< rows of other elements after them
  std::uint64_t first_row;       ///< window within the declared rows
  std::uint64_t row_count;
};

/// How the rows of a text body are stored.
struct TextLayout {
  std::vector<TableField> fields;  ///< of the table; positions are always parsed as float64,
                                   ///< because text has more digits than float32
  std::vector<TextToken> tokens;   ///< of a row, in file order
  const char* row_noun;            ///< for messages: "vertices"
  bool keep_invalid = false;       ///< as TableBuilder::finish
};

/// Reads the selected rows in parallel, in two passes over the file (count lines, then parse).
///
/// Returns  The table. Its warnings state how many rows are missing, could not be read (malformed_dropped), have more
///          values than declared or follow the declared ones. If rows are missing, a last line without line end is
///          left out, because its last number may be cut off.
/// Errors   kInvalidFile if rows are declared but none is present, if none can be read, or if a line is longer than 16
///          MiB.
CloudTable read_record_text(const platform::File& file, const TextBody& body, TextLayout layout,
                            const PositionFrame& frame, OpContext& ctx);

}  // namespace pc::io
