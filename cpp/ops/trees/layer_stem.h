#pragma once
#include <optional>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/trees/stem_curve.h"

namespace pc {

/// The strongest stem of a tree in the metre around breast height, by detect_stems: by the surface of its bark, which tells it from
/// twigs and leaves around it, where the best circle of each slice is one of these. Nothing if there is none, or if
/// the layer is wider than a kilometre.
///
/// points   (n) of the tree, metres
/// ground   under it: a plane by its heights at the mean place of the points and 1 m to each side
/// Cost     O(n) time and 80 bytes per point of the layer. Cancel within 250 ms.
std::optional<StemStart> layer_stem(Span<const Vec3d> points, const TreeGround& ground,
                                    const StemParams& params, const OpContext& ctx);

}  // namespace pc
