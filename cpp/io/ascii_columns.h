#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/memory.h"
#include "io/ascii_table.h"
#include "io/decimal.h"

/// Values of a text table between the parser and the result. They are packed batch by batch without loss, then joined
/// in the type that suits the whole column.
namespace pc::io {

/// A line, before the number of lines in earlier chunks is known.
struct LineRef {
  std::uint64_t chunk = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t line = 0;  ///< 0-based inside its chunk

  bool known() const { return chunk != std::numeric_limits<std::uint64_t>::max(); }
  friend bool operator<(const LineRef& a, const LineRef& b) {
    return a.chunk != b.chunk ? a.chunk < b.chunk : a.line < b.line;
  }
};

/// Properties of all values of one column; the result of merging does not depend on the order.
struct ColumnStats {
  double min = std::numeric_limits<double>::infinity();   ///< of finite values
  double max = -std::numeric_limits<double>::infinity();  ///< of finite values
  bool has_fraction = false;                              ///< some finite value is not a whole number
  bool has_nonfinite = false;                             ///< NaN, infinite or missing somewhere
  bool needs_double = false;                              ///< float32 would change the digits of some number
  bool inexact_whole = false;     ///< a whole number beyond 2^53 may have been rounded
  std::uint64_t not_numbers = 0;  ///< tokens that are not numbers, stored as NaN
  LineRef first_not_number;
  std::string not_number_text;  ///< that token, printable and short
  std::uint64_t rounded = 0;    ///< whole numbers that float64 cannot hold
  LineRef first_rounded;

  void merge(const ColumnStats& other);
};

/// Notes what the digits of a number demand of its column's type.
inline void note_digits(ColumnStats& stats, const Decimal& number) {
  if (number.mantissa <= 8'388'608 && number.exponent <= 0) return;
  if (!stats.needs_double) stats.needs_double = needs_double(number);
  // The exponent moved it beyond the range in which doubles represent every whole number.
  if (number.exponent > 0 && std::fabs(number.value) >= 9007199254740992.0) stats.inexact_whole = true;
}

/// Element type of a column in the result.
DType column_type(const ColumnStats& stats, TextColumnType wanted);

/// Values of one batch of parsed rows, column by column.
struct RowBatch {
  Span<double> values;       ///< (columns * capacity), column-major
  std::size_t capacity = 0;  ///< rows
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t filled = 0;  ///< leading columns that at least one row of this batch has
};

/// Packed batches of one chunk, in blocks that are never copied.
class PackedRows {
 public:
  struct Block {
    PageBlock pages;
    std::size_t used = 0;
  };

  /// `bytes` of contiguous space, zeroed, 8-byte aligned.
  std::byte* append(std::size_t bytes);
  std::size_t bytes() const { return bytes_; }
  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  std::vector<Block> blocks_;
  std::size_t bytes_ = 0;
};

/// Appends the batch to `packed` in the narrowest lossless types and adds its values to `stats` (one per column).
void pack_batch(const RowBatch& batch, std::vector<ColumnStats>& stats, PackedRows& packed);

/// Writes all rows of a packed chunk to rows [first_row, ...) of the columns. Columns of size 0 are left out.
void unpack_rows(const PackedRows& packed, std::size_t first_row, std::vector<AnyColumn>& columns);

}  // namespace pc::io
