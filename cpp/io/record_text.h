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
  DType type;                 ///< the declared type: a value that it cannot hold makes the row malformed
  bool is_list = false;       ///< a count, then that many values; read over
  std::size_t field = 0;      ///< field of the table that gets the value; unused for lists
  bool packed_color = false;  ///< the kU32 field gets the bits of the float or the integer that the text is
};

/// Where the rows of a text body lie and which of them are wanted. Lines that are blank never count as rows.
struct TextBody {
  std::uint64_t offset;          ///< first byte of the body
  std::uint64_t first_line;      ///< 1-based line number of that byte, for messages
  char line_end;                 ///< '\n' ('\r' before it is blank), or '\r' for files that use it alone
  std::uint64_t skip_rows;       ///< rows of other elements before the declared ones
  std::uint64_t declared_rows;   ///< rows the header promises
  std::uint64_t following_rows;  ///< rows of other elements after them
  std::uint64_t first_row;       ///< window within the declared rows
  std::uint64_t row_count;
};

/// What the rows of a text body become.
struct TextLayout {
  std::vector<TableField>
      fields;  ///< of the table; positions are parsed as float64 whatever type is declared,
               ///< because the text carries more digits than float32
  std::vector<TextToken> tokens;  ///< of a row, in file order
  const char* row_noun;           ///< for messages: "vertices"
};

/// Reads the window's rows in parallel, in two passes over the file (count lines, parse).
///
/// Returns  The table; its warnings say how many rows are missing, could not be read (malformed_dropped), have more
///          values than declared or follow the declared ones. A last line that is not terminated is left out when rows
///          are missing, because its last number may be cut short.
/// Errors   kInvalidFile when rows are declared but none is present, when none can be read, or when a line is longer
///          than 16 MiB.
CloudTable read_record_text(const platform::File& file, const TextBody& body, TextLayout layout,
                            const PositionFrame& frame, OpContext& ctx);

}  // namespace pc::io
