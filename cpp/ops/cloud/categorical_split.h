#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"

namespace pc {

struct ClassGroups {
  std::vector<double> values;         ///< distinct classes that are not excluded, ascending
  std::vector<std::uint64_t> counts;  ///< rows of each class
  AnyColumn order;                    ///< rows of the first class ascending, then of the second, ...
};

/// Orders rows by class (as class_counts defines it), for one child cloud per class.
///
/// column   (n) scalar; rows whose value is NaN or infinite are in no group.
/// skip     (n) non-zero = leave the row out, or empty = keep all.
/// exclude  classes to leave out, any order.
/// Order    Stable: rows ascend within a class; u32, or u64 from 2^32 rows on. Does not depend on threads.
/// Cost     O(n), O(n log c) for c classes that span more than 2^20 (up to 45 times as long): class_counts and two
///          passes over the column; scratch of at most 1 byte per row and 8 per class; a result of 4 or 8 bytes per
///          row.
/// Cancel   Within 250 ms.
/// Errors   Those of class_counts.
/// Source   Stable distribution sort, Knuth, The Art of Computer Programming 3, section 5.2.5.
ClassGroups categorical_split(const AnyColumn& column, Span<const std::uint8_t> skip,
                              const std::vector<double>& exclude, OpContext& ctx);

/// Gathers rows of every column in a given order.
///
/// columns  of any types and lengths.
/// order    u32 or u64 rows of these columns.
/// Order    out[i] = column[order[first + i]], i < count.
/// Cost     One pass over the order for each column, and the results.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: another type of order, first + count beyond its end, a row beyond the end of a column.
/// Source   Plain gather.
std::vector<AnyColumn> take_rows(const std::vector<const AnyColumn*>& columns, const AnyColumn& order,
                                 std::uint64_t first, std::uint64_t count, OpContext& ctx);

namespace categorical_split_parts {

/// Like categorical_split, with the type of the order given: kU32 or kU64.
ClassGroups split(const AnyColumn& column, Span<const std::uint8_t> skip, const std::vector<double>& exclude,
                  DType order, OpContext& ctx);

}  // namespace categorical_split_parts

}  // namespace pc
