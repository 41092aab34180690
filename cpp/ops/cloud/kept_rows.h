#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/op_context.h"
#include "core/parallel.h"
#include "core/span.h"

namespace pc {

/// The rows that a drop mask keeps, and the output position of each block of rows. Computed once, used for every
/// column.
class KeptRows {
 public:
  /// Rows per block, and the capacity that list() needs.
  static constexpr std::size_t kBlock = std::size_t{1} << 14;

  /// drop     (row_count) non-zero = leave out, or empty = keep all. Makes one pass over it. Throws kInvalidArgument if
  /// its length differs.
  KeptRows(std::size_t row_count, Span<const std::uint8_t> drop, OpContext& ctx)
      : row_count_(row_count), drop_(drop), starts_((row_count + kBlock - 1) / kBlock + 1, 0) {
    require(drop.empty() || drop.size == row_count, "the drop mask must have one entry per row");
    if (drop.empty()) {
      for (std::size_t b = 0; b < starts_.size(); ++b) starts_[b] = std::min(row_count, b * kBlock);
      return;
    }
    parallel_for(ctx, row_count, kBlock, [&](std::size_t begin, std::size_t end) {
      std::uint32_t kept = 0;
      for (std::size_t i = begin; i < end; ++i) kept += drop[i] == 0 ? 1 : 0;
      starts_[begin / kBlock + 1] = kept;
    });
    for (std::size_t b = 1; b < starts_.size(); ++b) starts_[b] += starts_[b - 1];
  }

  std::size_t row_count() const { return row_count_; }
  std::size_t kept_count() const { return starts_.back(); }
  std::size_t block_count() const { return starts_.size() - 1; }
  /// Number of kept rows before the block, and in it.
  std::size_t start(std::size_t block) const { return starts_[block]; }
  std::size_t kept_in(std::size_t block) const { return starts_[block + 1] - starts_[block]; }
  std::size_t rows_in(std::size_t block) const { return std::min(kBlock, row_count_ - block * kBlock); }
  bool all_kept_in(std::size_t block) const { return kept_in(block) == rows_in(block); }

  /// Lists the kept rows of a block, counted from its first row; `rows` has room for kBlock of them.
  void list(std::size_t block, std::uint32_t* rows) const {
    const std::size_t count = rows_in(block);
    if (drop_.empty()) {
      for (std::size_t i = 0; i < count; ++i) rows[i] = static_cast<std::uint32_t>(i);
      return;
    }
    const std::uint8_t* const drop = drop_.data + block * kBlock;
    std::size_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {  // branch-free: brush masks cannot be predicted
      rows[at] = static_cast<std::uint32_t>(i);
      at += drop[i] == 0 ? 1 : 0;
    }
  }

 private:
  std::size_t row_count_;
  Span<const std::uint8_t> drop_;
  std::vector<std::size_t> starts_;
};

}  // namespace pc
