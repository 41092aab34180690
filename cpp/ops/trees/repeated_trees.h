#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/trees/tree_inventory.h"

namespace pc {

/// A tree of which a cloud may show two.
struct PlacedStem {
  Vec2d at;            ///< at breast height, or else at its base, metres
  double diameter_m;   ///< at breast height; NaN = unknown
  double sigma_m;      ///< standard error of it; NaN = unknown
  double point_count;  ///< of the tree
};

/// Nothing for a tree whose place is unknown.
std::optional<PlacedStem> placed_stem(const MeasuredTree& tree);

/// A tree that stands a second time in the cloud.
struct RepeatedStem {
  std::size_t repeat, original;
};

/// Trees that a cloud shows twice, as scans do that were put together and do not fit each other: one motion in the plane, of up to 5 m
/// and 3 degrees, takes many stems to others of the same diameter. Stems of a plantation lie a row apart as well, but in chains, and
/// with other diameters.
///
/// Reach    From 5 cm to 5 m, which is halved while more than 200,000 pairs of stems lie within it, down to 0.3 m.
/// Equal    Diameters that differ by up to two standard errors of the difference and 3 mm, at most by a tenth and 5 mm.
/// Motion   From each pair of stems within reach with equal diameters, of many from some that are spread over all: the pairs about it that
///          are as far apart in the same direction, within 8 cm and 3.5 cm per metre (up to 20 m away), are moved onto each other
///          (least squares; within 0.3, 0.15, then 0.1 m), then all that come within 0.1 m. At least five, of which chance makes as many
///          once in 100,000.
/// Pairs    A stem and the nearest one within 0.1 m of its moved place, and four tenths of the way. Pairs that share a stem are none: they
///          are a chain.
/// Evidence Either diameters: at least six pairs and six of ten are equal, which chance makes as often as other pairs within reach are equal (of fewer than 30, any pairs);
///          or stems that stand in each other (less than nine tenths of the mean diameter apart), which trees do not: six of them moved
///          in one direction, within 3 cm, which is chance for stems that were divided. Both without the two pairs that define the motion, and
///          times the number of motions looked at, less than once in 100,000 lists.
/// Repeat   Those of the side with fewer points, with unknown diameters, too. Up to four motions, the surest first.
/// Limits   Fewer than eight trees, and motions by whole rows, onto other stems or about another place, are not found. Twins that were planted
///          two by two in one direction, with diameters that are equal within 2 %, are repeats.
///
/// stems    (n), finite
/// Result   By ascending repeat, each once; no original is a repeat.
/// Order    The same for any thread count; of equally sure motions the first.
/// Cost     Some 0.3 s for 10,000 stems that stand twice; up to 20 s in thickets of five stems per square metre.
/// Cancel   Within 250 ms.
/// Source   Ours.
std::vector<RepeatedStem> repeated_stems(Span<const PlacedStem> stems, OpContext& ctx);

/// Takes the diameter from the trees that stand a second time, sets their `repeat_of`, and no section of theirs is ok any more; nor has
/// one a foot, is covered or without a crown.
void drop_repeated_trees(std::vector<MeasuredTree>& trees, OpContext& ctx);

}  // namespace pc
