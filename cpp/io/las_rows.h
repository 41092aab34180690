#pragma once
#include <cstdint>
#include <vector>

#include "io/las_format.h"

/// Where the LAS and LAZ readers put decoded records; not part of the interface of las.h.
namespace pc::io::las {

/// The columns of a read: takes records as the file has them, gives a CloudTable.
class RowColumns {
 public:
  /// Columns of `rows` rows for the positions and the fields `params` asks for. Throws kInvalidArgument when the frame
  /// makes coordinates infinite.
  RowColumns(const Opened& opened, const LasReadParams& params, std::size_t rows);

  std::size_t rows() const { return rows_; }
  /// Bytes of all columns a row.
  std::size_t row_bytes() const;
  /// Which bytes of a record the columns are made of.
  const std::vector<bool>& used_bytes() const { return used_bytes_; }

  /// Decodes `count` records to rows [first, first + count). Threads may put different rows at the same time.
  void put(const std::uint8_t* records, std::size_t first, std::size_t count);
  /// Makes room for `rows` rows; not while records are being put.
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
  void put_positions(const std::uint8_t* records, std::size_t count, Vec3d* out) const;

  const LasHeader& header_;
  PositionFrame frame_;
  std::size_t rows_;
  std::vector<const Field*> fields_;
  std::vector<bool> used_bytes_;
  CloudTable table_;
  std::vector<Output> outputs_;
};

}  // namespace pc::io::las
