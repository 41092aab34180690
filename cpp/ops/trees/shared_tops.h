#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Whose points surround the highest point of a tree.
struct SharedTop {
  std::uint64_t id;
  double share;  ///< 0..1, of the points of trees there that are of others
};

/// Share above which a height is in doubt (docs/accuracy.md).
constexpr double kSharedTop = 0.2;

/// Of every tree, the share of the points of trees about its highest point that belong to others. Where crowns meet, a segmentation gives
/// the highest points of one to another, which is too high then, or leaves a tree without its own, which is too low: in both
/// cases the highest point lies at the border of two.
///
/// positions  (n) metres; rows with a coordinate that is not finite, and rows that `skip` marks (non-zero), count nowhere
/// trees      (n) scalar; rounded; ids are above 0 and below 2^53
/// About      within 1 m, or a tenth of the tree's extent in z where that is less. Of equally high points the first by x, then y.
/// Result     Ascending ids.
/// Order      The same for any thread count and order of the rows.
/// Cost       O(n), two passes; 500 bytes per tree and thread.
/// Cancel     Within 100 ms.
/// Errors     kInvalidArgument for lengths that differ.
/// Source     Ours.
std::vector<SharedTop> shared_tops(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                                   const AnyColumn& trees, OpContext& ctx);

}  // namespace pc
