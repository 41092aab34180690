#pragma once
#include <optional>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/trees/stem_curve.h"

namespace pc {

/// Whether the points of a stem at breast height lie on two equal circles beside each other, as scans do that do not fit.
///
/// Sections Five of 8 cm, 10 cm apart, about the circle at breast height; points within 15 cm of it, along the axis of the stem. Two
///          circles are fitted to each (two_circles.h), from 18 starts of up to 10 cm apart.
/// Layers   From 12 mm to 20 cm apart, and six deviations of the points from the nearer circle or more: a circle with errors is split
///          into halves 2.7 deviations apart, its near and its far one. At least two sections, and half of those with 40 points
///          or more, are apart by the same (within 5 mm, or a fifth). In these both circles are seen at once, in two sectors of 20
///          degrees and a quarter of those with 8 points or more: of an ellipse, too, parts lie near either.
/// Returns  From one layer to the other, level, metres; y > 0, or y = 0 and x > 0: which is whose is not known. Nothing without a
///          circle at breast height, and without two layers.
/// points   of the tree, in one order
/// Cost     O(points) and about 2 ms. Cancel within 100 ms.
/// Source   Ours.
std::optional<Vec2d> stem_layers(Span<const Vec3d> points, const Stem& stem, const OpContext& ctx);

/// Moves the two layers of a stem onto each other, each by half of the way, as far up and down as they can be followed from breast
/// height: in slices of 10 cm two circles that far apart are fitted, from those of the slice before. Points more than 2 cm and three
/// deviations from both stay, and so does all above and below three slices in a row without the stem.
///
/// Returns  Whether there are two layers: false leaves the points as they are.
/// Cost     O(points). Cancel within 100 ms.
bool join_layers(std::vector<Vec3d>& points, const Stem& stem, const Vec2d& apart, const OpContext& ctx);

}  // namespace pc
