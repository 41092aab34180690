#pragma once
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// Heights above the ground between which trunks are looked for, metres.
struct TrunkLayer {
  double min_m, max_m;

  bool is_of_low_trees() const { return max_m <= 1; }
};

/// Of the stems that are looked for in such a layer, metres.
constexpr double kWidestStem = 8;
/// Trees below this height are low, metres: at it the layer of their trunks ends at 1 m.
constexpr double kLowTree = 20.0 / 3;

/// Of a tree of this height: 1 to 2 m; of a low one a twentieth to three twentieths of its height, at least 0.1 m, as the
/// trunks of orchards part at half a metre and their limbs would be found for stems.
TrunkLayer trunk_layer_of(double height_m);

/// The layer in which the trees of a cloud are one trunk each.
///
/// heights  (n) of vegetation above the ground, metres; NaN = unknown, does not count
/// Method   trunk_layer_of the height above which one of 100 points higher than 0.5 m lies, to a centimetre.
/// Order    The same for any order of the points and any thread count.
/// Cost     O(n) time. Cancel within 250 ms.
TrunkLayer trunk_layer(Span<const float> heights, OpContext& ctx);

}  // namespace pc
