#pragma once
#include <optional>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/trees/stem_curve.h"

namespace pc {

struct LowTrunk {
  Stem stem;
  double radius_m;  ///< below the limbs
};

/// The trunk of a low tree, below the fork that orchard trees have at half a metre: measured as measure_stem does it, with
/// the layer of its trunk (trunk_layer_of) in place of the heights at which the stems of others are looked for.
///
/// Limbs    that hang beside the trunk look like one: the points around the lowest ones are searched first, within a tenth of the
///          height, and all of them where no trunk is seen there.
/// points   (n) of the tree, metres; at least one
/// height_m of the tree
/// Result   Its base and axis; the circle at breast height if that lies between the begin of the layer and a fifth of the
///          tree's height, and none otherwise; the curve of the layer. Nothing if the tree is not low, or its trunk is not seen
///          so well that its circle is a stem's (is_no_stem) with a standard error of at most a tenth of the diameter.
/// Cost     As measure_stem.
std::optional<LowTrunk> low_trunk(Span<const Vec3d> points, const TreeGround& ground,
                                  const StemParams& params, double height_m, OpContext& ctx);

}  // namespace pc
