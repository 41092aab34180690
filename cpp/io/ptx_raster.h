#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/memory.h"
#include "io/ptx.h"
#include "io/scan_rows.h"
#include "io/text_rows.h"

/// Parts of the PTX writer; not part of the interface of ptx.h.
namespace pc::io::ptx {

constexpr std::size_t kSelectRows = 1 << 14;
constexpr std::uint64_t kMaxCells = 4294967294;

/// The rows of a view that form a scan.
struct ScanRows {
  const CloudView& view;
  const RowSelection& selection;  ///< blocks of kSelectRows
  std::size_t begin, end;         ///< rows [begin, end); begin starts a block
  Vec3d origin_stored{0, 0, 0};
  std::optional<PtxSweep> sweep;
  std::optional<std::int64_t> scan_index;  ///< only rows with this value of the scalar scan_index
};

/// Assigns rows to the cells of one scan, a band of cells at a time. Cells are numbered column by column.
class PtxRaster {
 public:
  PtxRaster(const ScanRows& rows, std::uint64_t max_cells, OpContext& ctx);

  const PtxWrittenScan& written() const { return written_; }
  std::uint64_t cell_count() const { return written_.rows * written_.columns; }
  static constexpr std::uint64_t kBandCells = std::uint64_t{1} << 22;  ///< 32 MiB
  /// Assigns rows to cells [first, first + count), at most kBandCells, and counts them in written().
  void fill(std::uint64_t first, std::size_t count, OpContext& ctx);

  char* write_header(char* p) const;
  /// Writes the line of a cell of the band, including the line end, at most kMaxCellBytes.
  char* write_cell(std::size_t cell, char* p) const;
  static constexpr std::size_t kMaxHeaderBytes = 40 * 330;
  static constexpr std::size_t kMaxCellBytes = 3 * 330 + 64;

 private:
  struct Scratch {
    std::vector<std::int64_t> row, column, rank, miss, scan;
  };
  struct Extent {
    std::int64_t low_row = INT64_MAX, last_row = -1, low_column = INT64_MAX, last_column = -1;
    std::uint64_t unplaced = 0;
  };
  template <class Visit>
  void for_each_row(std::size_t block, Scratch& scratch, Visit&& visit) const;
  void measure_indexes(OpContext& ctx);
  void measure_sweep(OpContext& ctx);
  bool cell_of(std::size_t i, std::int64_t row, std::int64_t column, std::uint64_t& cell) const;
  std::size_t first_block() const { return rows_.begin / kSelectRows; }
  std::size_t block_count() const { return (rows_.end - rows_.begin + kSelectRows - 1) / kSelectRows; }

  const ScanRows& rows_;
  Indexes row_, column_, return_, miss_, scan_;
  std::int64_t low_row_ = 0, low_column_ = 0;
  PtxWrittenScan written_;
  struct Reach {
    std::int64_t low, last;  ///< range of columns of the rows of a block
  };
  std::vector<Reach> reach_;         ///< per block
  BulkVector<std::uint64_t> cells_;  ///< rank << 32 | row of the cell's point; all ones = empty
};

}  // namespace pc::io::ptx
