#pragma once
#include <cstdint>
#include <vector>

#include "io/las_format.h"

/// Destination of records decoded by the LAS and LAZ readers; not part of the interface of las.h.
namespace pc::io::las {

/// The columns of a read: takes records as stored in the file and returns a CloudTable.
class RowColumns {
 public:
  /// Creates columns of `rows` rows for the positions and the fields that `params` selects. Throws kInvalidArgument if
  /// the frame makes coordinates infinite.
  RowColumns(const Opened& opened, const LasReadParams& params, std::size_t rows);

  std::size_t rows() const { return rows_; }
  /// Bytes per row of all columns.
  std::size_t row_bytes() const;
  /// The bytes of a record that the columns need.
  const std::vector<bool>& used_bytes() const { return used_bytes_; }

  /// Decodes `count` records to rows [first, first + count), each row once. Threads may write different rows at the same time.
  void put(const std::uint8_t* records, std::size_t first, std::size_t count);
  /// Makes room for `rows` rows; must not run at the same time as put().
  void grow(std::size_t rows);

  /// The table, with the first `rows` rows.
  CloudTable take(std::size_t rows);

 private:
  struct Output {
    const Field* field;
    std::byte* data;
    std::size_t element_bytes;
  };
  void find_outputs();
  /// Decodes a field. Zeros are not written while the column has had no other value: its memory is zero, and pages that nobody
  /// writes cost nothing. Most files have several fields that they do not use.
  void put_field(std::size_t index, const std::uint8_t* records, std::size_t row, std::size_t count);
  void put_positions(const std::uint8_t* records, std::size_t count, Vec3d* out) const;

  const LasHeader& header_;
  PositionFrame frame_;
  std::size_t rows_;
  std::vector<const Field*> fields_;
  std::vector<bool> used_bytes_;
  CloudTable table_;
  std::vector<Output> outputs_;
  std::vector<std::uint8_t> blank_;  ///< by output: 1 while all its values are zero
};

}  // namespace pc::io::las
