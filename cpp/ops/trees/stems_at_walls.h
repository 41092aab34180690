#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/trees/tree_inventory.h"

namespace pc {

/// A stem that may stand at a wall, or what lies on flat surfaces.
struct WallTree {
  Vec3d place;      ///< of the stem at breast height, z of its ground, metres; of a flat tree unused
  double radius_m;  ///< at breast height; NaN = unknown: it stands at no wall
  bool flat;
};

/// Which stems stand at a wall, as drain pipes and the edges of bay windows do: on each of five levels of 0.5 m, from 0.5 to 3 m above
/// their ground, at least 3 points of flat trees lie within 0.4 m of the circle at breast height. Cars and signs are lower.
///
/// trees      (n)
/// points_of  the points of tree i, metres; called once for each flat tree, from one thread
/// Result     (n) 1 = at a wall
/// Order      The same for any order of the points.
/// Cost       O(points of flat trees), nothing without a flat tree.
/// Cancel     Within 50 ms, beside points_of.
/// Source     Ours. Of 41 trees of generated streets with a diameter none has it, and 12 of 22 other things have it.
std::vector<char> stems_at_walls(Span<const WallTree> trees,
                                 const std::function<std::vector<Vec3d>(std::size_t)>& points_of,
                                 const OpContext& ctx);

/// Sets `at_wall` of the trees with a diameter that stand at one.
void mark_stems_at_walls(std::vector<MeasuredTree>& trees,
                         const std::function<std::vector<Vec3d>(std::size_t)>& points_of,
                         const OpContext& ctx);

}  // namespace pc
