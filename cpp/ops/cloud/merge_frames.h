#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"

namespace pc {

/// One cloud's share of a merged column.
struct MergePart {
  const AnyColumn* column;        ///< (rows), or nullptr = the fill value in every row
  std::size_t rows;               ///< number of rows before dropping
  Span<const std::uint8_t> drop;  ///< (rows) non-zero = leave out, or empty = keep all
  Vec3d offset;                   ///< added to each vec3d triple; zeros for other types
  std::optional<double> fill{};   ///< instead of MergeParams::fill
};

struct MergeParams {
  DType dtype;  ///< type of the result
  double fill;  ///< value of rows without a column; each component of triples
};

/// Concatenates a column of several clouds, with positions moved into the frame of the first cloud.
///
/// parts    any number, including none. Triples require a result of their own type.
/// Order    Parts in order, rows in order. A part that has the result's type and no offset is copied bit for bit,
///          including NaN payloads and -0.0. Does not depend on threads.
/// Cost     One pass over each mask and each part; the result.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: a value, or a fill that is used, that the result's type cannot hold exactly (the message names the first
///          such row), triples of another type, lengths that differ, an offset that is not finite, or not zero for a
///          type other than vec3d.
/// Source   contract sessions section 11: stored_out = stored_i + shift_i - shift_first.
AnyColumn merge_frames(const std::vector<MergePart>& parts, const MergeParams& params, OpContext& ctx);

}  // namespace pc
