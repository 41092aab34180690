#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"

namespace pc {

/// One cloud's share of a merged column.
struct MergePart {
  const AnyColumn* column;        ///< (rows), or nullptr = the fill value in every row
  std::size_t rows;               ///< before dropping
  Span<const std::uint8_t> drop;  ///< (rows) non-zero = leave out, or empty = keep all
  Vec3d offset;                   ///< added to each triple of vec3d; zeros for other types
};

struct MergeParams {
  DType dtype;  ///< of the result
  double fill;  ///< value of rows without a column; each component of triples
};

/// Columns of several clouds one behind the other, moved into the frame of the first.
///
/// parts    any number, also none. Triples go only into their own type.
/// Order    Parts in order, rows in order. Where a part has the wanted type (and no offset) its bits are copied:
///          NaN payloads and -0.0 survive. Does not depend on threads.
/// Cost     One pass over each mask and each part; the result.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: a value or the fill that the wanted type does not hold exactly (named with its row: the
///          first one), triples of another type, lengths that differ, an offset that is not finite or not zero for
///          anything but vec3d.
/// Source   contract sessions section 11: stored_out = stored_i + shift_i - shift_first.
AnyColumn merge_frames(const std::vector<MergePart>& parts, const MergeParams& params, OpContext& ctx);

}  // namespace pc
