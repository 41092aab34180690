#pragma once
#include <cstddef>
#include <cstdint>

#include "core/span.h"
#include "io/ascii_columns.h"
#include "io/ascii_table.h"
#include "io/cloud_table.h"

namespace pc::io {

/// Where the columns of a row go.
struct PlainLayout {
  Span<const std::int32_t>
      targets;            ///< file column -> index of its values (0, 1, 2 = x, y, z), negative = not wanted
  std::uint32_t columns;  ///< of a row
  char point, delimiter;
  PositionFrame frame;
};

/// Rows being parsed; the values are column-major with `capacity` rows each.
struct PlainBatch {
  double* values;
  std::size_t capacity;
  std::size_t row, limit;  ///< next row, and the row to stop at
  Vec3d* positions;        ///< of row `row`
  ColumnStats* stats;      ///< of the columns from index 3 on
};

/// Parses the rows at `p` up to the first that is not plain, the end of the lines (the last byte is '\n') or the row to
/// stop at; returns the first line that is not parsed. A plain row has exactly the columns of the layout, and each
/// wanted one is [-] digits [point digits], at most 16 characters after the sign, at most 2^53 without the point. Rows
/// with a position that is not finite in the stored frame are not plain either. kTextPadding bytes after the end are
/// readable.
using PlainRowParser = const char* (*)(const char* p, const char* end, const PlainLayout& layout,
                                       PlainBatch& batch);

/// The parser for rows of this delimiter; nullptr if the processor has no AVX2.
PlainRowParser plain_row_parser(TextDelimiter delimiter);

}  // namespace pc::io
