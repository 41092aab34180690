#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// Points that stand high above the ground, and the trees that hold them.
struct HighPoints {
  std::uint64_t count;
  std::uint64_t of_stems;      ///< of trees whose stem is known
  std::uint64_t without_tree;  ///< of no tree
};

/// Counts the points of vegetation more than 2 m above the ground.
///
/// heights  (n) above the ground, metres; NaN = unknown, does not count
/// labels   (n) 0 = no tree, else 1 .. t
/// has_stem (t) per tree: 0 = its stem is not known
/// Cost     O(n) time. Cancel within 250 ms.
/// Errors   kInvalidArgument: lengths that differ.
HighPoints high_points(Span<const float> heights, Span<const std::uint32_t> labels,
                       Span<const std::uint8_t> has_stem, OpContext& ctx);

}  // namespace pc
