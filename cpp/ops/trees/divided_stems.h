#pragma once
#include <cstddef>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/trees/layer_motion.h"
#include "ops/trees/repeated_trees.h"

namespace pc {

/// Parts of trees that were divided because scans show their stems twice.
///
/// A stem with a diameter is a part of another one if they overlap and their middles are no farther apart than the layers, and 3 cm; a tree
/// without one, if its base is within the two layers of a stem, and 3 cm. The whole is the one with a diameter, of these the one
/// with more points, then the first. Where more than 64 stems lie within reach, and of stems thicker than 2 m, none is found.
///
/// stems    (n), finite places
/// motion   see layer_motion
/// Result   (n) the number of the whole that each stem belongs to: its own for all that are no parts
/// Cost     O(n). Cancel within 250 ms.
/// Source   Ours.
std::vector<std::size_t> divided_stems(Span<const PlacedStem> stems, const LayerMotion& motion,
                                       OpContext& ctx);

}  // namespace pc
