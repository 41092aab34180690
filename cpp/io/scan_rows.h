#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/memory.h"
#include "io/cloud_view.h"
#include "io/text_rows.h"

namespace pc::io {

/// The values of a scalar, or nullptr if the view has no scalar of this slug.
const AnyColumn* find_scalar(const CloudView& view, const char* slug);

/// Values of a scalar column, a block at a time; -1 for values that are not whole numbers from 0 to 2^32 - 1.
class Indexes {
 public:
  explicit Indexes(const AnyColumn* column) : column_(column) {}
  bool present() const { return column_ != nullptr; }
  void read(std::size_t begin, std::size_t end, std::vector<std::int64_t>& out) const;

 private:
  const AnyColumn* column_;
};

/// The selected rows of a view, divided into scans.
///
/// Memory  8 bytes per block of the selection for one scan; 8 bytes per selected row for several.
class ScanRowTable {
 public:
  /// A scan as it is numbered by the column scan_index.
  struct Scan {
    std::optional<std::uint32_t> number;  ///< empty: rows without a valid scan_index
    std::uint64_t first, count;           ///< its rows are the ordinals [first, first + count)
  };

  static constexpr std::size_t kMaxScans = 65535;  ///< valid values of scan_index are 0 to kMaxScans - 1

  /// One scan for every value of the scalar scan_index, in ascending order, and one at the end for rows whose value is
  /// not a whole number from 0 to 65534; one scan of all rows without this scalar.
  ScanRowTable(const CloudView& view, std::size_t block_rows, OpContext& ctx);

  const RowSelection& selection() const { return selection_; }
  const std::vector<Scan>& scans() const { return scans_; }
  /// The rows with the ordinals [first, first + count), in ascending order within a scan.
  void rows(std::uint64_t first, std::size_t count, std::vector<std::size_t>& out) const;

 private:
  void sort_by_scan(const AnyColumn& column, OpContext& ctx);
  std::size_t block_of(std::uint64_t ordinal) const;

  std::size_t row_count_;
  RowSelection selection_;
  std::vector<Scan> scans_;
  BulkVector<std::uint64_t> order_;  ///< rows by scan; empty if there is one scan of all rows
};

}  // namespace pc::io
