#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"

namespace pc {

/// A column with more distinct values than this gets no list of them.
constexpr std::size_t kMaxDistinctValues = 4096;

struct ColumnStats {
  std::uint64_t row_count;     ///< rows not left out by `skip`
  std::uint64_t finite_count;  ///< of these, finite values: the statistics are computed from them
  std::uint64_t nan_count;
  std::uint64_t infinite_count;
  /// As float64: 64-bit integers beyond 2^53 are rounded to nearest. Empty if finite_count is 0.
  std::optional<double> min, max, p1, p99;
  bool is_constant;  ///< finite_count > 0 and all finite values are equal
  bool is_integral;  ///< finite_count > 0 and all finite values are whole numbers
  /// Distinct finite values, ascending; no list if the column is not integral, has more than kMaxDistinctValues
  /// distinct values or has a value beyond +-2^53, which a JSON number cannot represent.
  std::optional<std::vector<std::int64_t>> distinct;
};

/// Statistics of scalar columns of equal length, one result per column, in order.
///
/// columns  scalar columns of n rows, any type; n == 0 gives counts of 0.
/// skip     (n) non-zero = leave the row out (misses, deleted rows), or empty = keep all.
/// Order    Exact; percentiles by linear interpolation at rank q (count - 1); the same for any thread count.
/// Cost     Two streaming passes per column in typical cases, about n / 4 bytes of scratch touched; one pass and 0.5 MiB
///          per thread for integers of up to 16 bits.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument for a column of triples, or if its length differs from that of skip or the first column.
/// Source   Percentiles by sampled brackets, see order_select.h, or from the counts of all values.
std::vector<ColumnStats> column_stats(const std::vector<const AnyColumn*>& columns,
                                      Span<const std::uint8_t> skip, OpContext& ctx);

/// Statistics of a single column.
ColumnStats column_stats(const AnyColumn& column, Span<const std::uint8_t> skip, OpContext& ctx);

}  // namespace pc
