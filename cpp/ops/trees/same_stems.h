#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/trees/tree_inventory.h"
#include "spatial/predicates.h"

namespace pc {

/// The circle of a tree at breast height.
struct BreastCircle {
  std::uint64_t tree;
  Vec2d center;              ///< metres
  double radius_m, sigma_m;  ///< standard error of the diameter; NaN = unknown, the worst
};

/// Circles in the place of a better known one: one of the two holds the centre of the other, as circles of two stems never do.
/// They are of a stem whose points have two numbers, or of leaves and limbs around it.
///
/// circles  (n); ids of trees differ; centres and radii are finite
/// Better   The standard error is a smaller part of the diameter; of equals the smaller id.
/// Result   (n) index of the better known circle, itself in no other's place; nothing for those that stand alone.
/// Order    The same for any order of the circles.
/// Cost     O(n log n) for trees, whose circles hold the centres of few others.
/// Cancel   Within 250 ms.
/// Errors   None.
/// Source   Ours.
std::vector<std::optional<std::size_t>> same_stems(Span<const BreastCircle> circles, const OpContext& ctx);

/// Takes the diameter from the trees whose circle at breast height is in the place of a better known one, sets their
/// `same_stem_as`, and no section of theirs is ok any more.
void drop_same_stems(std::vector<MeasuredTree>& trees, const OpContext& ctx);

}  // namespace pc
