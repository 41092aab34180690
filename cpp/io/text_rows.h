#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/op_context.h"
#include "io/cloud_view.h"
#include "io/text_writer.h"

namespace pc::io {

/// The rows that a view writes, in blocks: those without skip, every stride-th of them.
class RowSelection {
 public:
  RowSelection(const CloudView& view, std::size_t block_rows, OpContext& ctx);

  std::size_t block_rows() const { return block_rows_; }
  std::uint64_t selected_count() const { return selected_before(before_.size() - 1); }
  /// Number of selected rows before a block.
  std::uint64_t selected_before(std::size_t block) const { return (before_[block] + stride_ - 1) / stride_; }

  /// Calls visit(row) for the selected rows of [begin, end); `begin` is the start of a block.
  template <class Visit>
  void for_each(std::size_t begin, std::size_t end, Visit&& visit) const {
    std::uint64_t until = selected_before(begin / block_rows_) * stride_ - before_[begin / block_rows_];
    for (std::size_t i = begin; i < end; ++i) {
      if (!skip_.empty() && skip_[i] != 0) continue;
      if (until == 0) {
        visit(i);
        until = stride_;
      }
      --until;
    }
  }

 private:
  Span<const std::uint8_t> skip_;
  std::uint64_t stride_;
  std::size_t block_rows_;
  std::vector<std::uint64_t> before_;  ///< number of rows without skip before each block, and in total
};

/// A view's columns in the order and form of a text file.
class TextRows {
 public:
  TextRows(const CloudView& view, const TextWriteParams& params);

  std::size_t column_count() const { return 3 + names_.size(); }
  /// Most bytes of a row, including the line end.
  std::size_t max_row_bytes() const;
  /// Examines the selected values: which float columns are integral, how large the coordinates are.
  void inspect(const RowSelection& rows, OpContext& ctx);
  /// Result of inspect(): columns with a value that six decimals change.
  const std::vector<std::string>& rounded() const { return rounded_; }
  /// Result of inspect(): an intensity is written that its decimals change.
  bool intensity_cut() const { return intensity_cut_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  const CloudView& view() const { return view_; }
  /// The header's lines, without the last '\n'; empty if the format has none.
  std::string header(std::uint64_t row_count) const;
  /// Writes one row without line end; returns the end of the text.
  char* write_row(std::size_t row, char* p) const;

 private:
  struct Scalar {
    const AnyColumn* values;
    bool integral;
  };
  std::string ply_header(std::uint64_t row_count) const;
  char* write_scalar(const Scalar& scalar, std::size_t row, char* p) const;
  char* write_real(double value, char* p) const;
  int intensity_decimals() const { return params_.format == TextFormat::kPly ? 6 : 4; }

  CloudView view_;
  TextWriteParams params_;
  char separator_;
  std::vector<std::string> names_;  ///< of the columns after x y z
  std::vector<const char*> types_;  ///< their ply types
  std::vector<Scalar> scalars_;
  std::vector<std::string> warnings_, rounded_;
  bool large_coordinates_ = false, intensity_cut_ = false;
};

}  // namespace pc::io
