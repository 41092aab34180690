#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"

namespace pc {

/// A column with more distinct values than this is not a column of classes.
constexpr std::size_t kMaxClasses = std::size_t{1} << 20;

struct ClassCounts {
  std::vector<double> values;         ///< distinct finite rint(value), ascending; never -0
  std::vector<std::uint64_t> counts;  ///< rows of each class
};

/// Counts the rows of each class.
///
/// column   (n) scalar. A row's class is rint(value) as float64, half to even; NaN and infinities have none.
/// skip     (n) non-zero = leave the row out, or empty = keep all.
/// Order    Ascending classes; does not depend on threads.
/// Cost     O(n) time: one streaming pass for 8 and 16 bits, otherwise two; 8 MiB per thread. Classes that span more
///          than 2^20 are sorted in parts of 4 Mi rows, 24 bytes each, which takes up to 30 times as long.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: triples, a skip mask of another length, more than 2^20 distinct classes.
/// Source   contract sessions section 4.1, class_counts.
ClassCounts class_counts(const AnyColumn& column, Span<const std::uint8_t> skip, OpContext& ctx);

}  // namespace pc
