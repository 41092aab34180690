#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "ops/cloud/row_set.h"

namespace pc {

struct Deletion {
  Column<std::uint8_t> deleted;      ///< (n) 1 = deleted, before or by this call
  RowSet rows;                       ///< rows deleted by this call
  std::uint64_t selected_hit_count;  ///< selected hits, deleted before or not
};

/// Deletes the selected hits. Misses are never deleted: without them the transmission of leaf area density is wrong.
///
/// selected  (n) non-zero = selected.
/// is_miss   (n) any scalar type, or nullptr = no misses. Non-zero = miss, including NaN (as in hit_mask).
/// deleted   (n) non-zero = deleted already, or empty = none.
/// Order    Row order; does not depend on threads.
/// Cost     Three streaming passes; 2 n bytes and the row set.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument for lengths that differ or an is_miss of triples.
/// Source   contract sessions section 2: newly = selected and hit and not deleted.
Deletion mark_deleted(Span<const std::uint8_t> selected, const AnyColumn* is_miss,
                      Span<const std::uint8_t> deleted, OpContext& ctx);

}  // namespace pc
