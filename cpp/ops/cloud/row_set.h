#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/parallel.h"

namespace pc {

enum class RowEncoding : std::uint8_t {
  kRows,  ///< data: the rows, ascending; u32 or u64
  kRuns,  ///< data: pairs of start and length, ascending, not overlapping; u32 or u64
  kBits,  ///< data: u8, bit i % 8 of byte i / 8 is row i
};

/// A set of rows of a cloud.
struct RowSet {
  RowEncoding encoding;
  AnyColumn data;
  std::uint64_t count;
};

/// A RowSet in memory owned by the caller.
struct RowSetView {
  RowEncoding encoding;
  const AnyColumn* data;
  std::uint64_t count;
};

/// The non-zero rows of a mask, in the smallest of the three forms.
///
/// mask     (n) non-zero = in the set.
/// Order    A function of the mask alone; for equal sizes rows are preferred to runs, runs to bits. u64 instead of u32
///          from 2^32 rows on.
/// Cost     Two streaming passes; at most n / 8 bytes for the result (rounded up).
/// Cancel   Within 50 ms.
/// Errors   None.
/// Source   Sizes: 4 bytes a row, 8 a run, 1 for 8 rows.
RowSet encode_rows(Span<const std::uint8_t> mask, OpContext& ctx);

/// Mask of the rows that are in `base` or in any of several sets.
///
/// row_count  n
/// base     (n) non-zero = in the result, or empty = none.
/// Order    (n) 1 = in the result; does not depend on threads.
/// Cost     n bytes for the result, one pass over base and one over each set.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument for another length of base, or a set that is not valid for a cloud of n rows.
/// Source   Plain union.
Column<std::uint8_t> union_rows(std::size_t row_count, Span<const std::uint8_t> base,
                                const std::vector<RowSetView>& sets, OpContext& ctx);

/// The rows of a set as numbers, ascending, for files that know no other form.
///
/// row_count  n
/// Order    (count) ascending; does not depend on threads.
/// Cost     8 bytes a row for the result, one pass.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument for a set that is not valid for a cloud of n rows.
/// Source   Plain listing.
Column<std::int64_t> list_rows(std::size_t row_count, const RowSetView& set, OpContext& ctx);

/// Inverse of list_rows: the set in the smallest of the three forms.
///
/// row_count  n
/// rows     (m) ascending, each in 0 .. n - 1.
/// Order    The form of encode_rows.
/// Cost     n bytes of scratch, one pass over the rows and two over the scratch.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument for rows that are not ascending or not in the cloud.
/// Source   As encode_rows.
RowSet row_set_of(std::size_t row_count, Span<const std::int64_t> rows, OpContext& ctx);

/// Reads a row set from an untrusted source: checks it once, then visits its rows.
class RowSetReader {
 public:
  /// Errors: kInvalidArgument if the set is not valid for `row_count` rows: wrong type or length, rows not ascending or
  /// beyond the end, a count that differs from the number of rows.
  RowSetReader(const RowSetView& set, std::size_t row_count, OpContext& ctx);

  /// Calls visit(row, rank) for every row, concurrently; ranks ascend with rows and are 0 .. count - 1.
  template <class Visit>
  void for_each(OpContext& ctx, const Visit& visit) const;

 private:
  static constexpr std::size_t kGrain = std::size_t{1} << 16;  ///< a multiple of 8

  void check_bits(OpContext& ctx);
  template <class Index>
  void check_rows(Span<const Index> rows, OpContext& ctx) const;
  template <class Index>
  void check_runs(Span<const Index> runs, OpContext& ctx);
  template <class Index, class Visit>
  void each_of_rows(Span<const Index> rows, OpContext& ctx, const Visit& visit) const;
  template <class Index, class Visit>
  void each_of_runs(Span<const Index> runs, OpContext& ctx, const Visit& visit) const;
  template <class Visit>
  void each_of_bits(OpContext& ctx, const Visit& visit) const;

  RowSetView set_;
  std::size_t row_count_;
  BulkVector<std::uint64_t>
      starts_;  ///< rank of the first row of each run, or of each kGrain rows of bits; then the count
};

template <class Index, class Visit>
void RowSetReader::each_of_rows(Span<const Index> rows, OpContext& ctx, const Visit& visit) const {
  parallel_for(ctx, rows.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) visit(static_cast<std::size_t>(rows[i]), i);
  });
}

template <class Index, class Visit>
void RowSetReader::each_of_runs(Span<const Index> runs, OpContext& ctx, const Visit& visit) const {
  const auto count = static_cast<std::size_t>(set_.count);
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), begin);
    auto run = static_cast<std::size_t>(after - starts_.begin()) - 1;
    for (std::size_t rank = begin; rank < end; ++run) {
      const std::size_t last = std::min<std::size_t>(end, starts_[run + 1]);
      auto row = static_cast<std::size_t>(runs[2 * run]) + (rank - static_cast<std::size_t>(starts_[run]));
      for (; rank < last; ++rank, ++row) visit(row, rank);
    }
  });
}

template <class Visit>
void RowSetReader::each_of_bits(OpContext& ctx, const Visit& visit) const {
  const Span<const std::uint8_t> bytes = set_.data->as<std::uint8_t>();
  parallel_for(ctx, row_count_, kGrain, [&](std::size_t begin, std::size_t end) {
    auto rank = static_cast<std::size_t>(starts_[begin / kGrain]);
    for (std::size_t byte = begin / 8; byte < (end + 7) / 8; ++byte) {
      for (unsigned bits = bytes[byte]; bits != 0; bits &= bits - 1)
        visit(8 * byte + static_cast<std::size_t>(std::countr_zero(bits)), rank++);
    }
  });
}

template <class Visit>
void RowSetReader::for_each(OpContext& ctx, const Visit& visit) const {
  if (set_.encoding == RowEncoding::kBits) return each_of_bits(ctx, visit);
  const bool rows = set_.encoding == RowEncoding::kRows;
  if (set_.data->dtype() == DType::kU32) {
    const auto values = set_.data->as<std::uint32_t>();
    return rows ? each_of_rows(values, ctx, visit) : each_of_runs(values, ctx, visit);
  }
  const auto values = set_.data->as<std::uint64_t>();
  return rows ? each_of_rows(values, ctx, visit) : each_of_runs(values, ctx, visit);
}

}  // namespace pc
