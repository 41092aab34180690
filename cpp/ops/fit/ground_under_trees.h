#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Lowest ground point in the horizontal extent of each tree.
///
/// positions     (n) metres
/// skip          (n) non-zero = leave out, or empty = keep all
/// ground_class  (n) scalar, 1 = ground
/// boxes         of the trees, in the frame of the positions; heights are not read
/// Order    (boxes) z in metres; NaN = no ground point there. Does not depend on the thread count.
/// Cost     One pass over the points; each is compared with the trees that reach into its cell of a grid.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: lengths that differ, labels that are no numbers.
/// Source   Contract core section 4, ground_baseline; segmentation leaves the ground out of its trees.
std::vector<double> ground_under_trees(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                                       const AnyColumn& ground_class, const std::vector<Box3d>& boxes,
                                       OpContext& ctx);

}  // namespace pc
