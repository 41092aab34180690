#pragma once
#include <vector>

#include "core/op_context.h"
#include "core/qsm.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Distance of the surface of a thick trunk from its axis, metres; 0 where the lowest 3 m of the plant are no trunk wider than kThickTrunk.
///
/// cylinders  axes of the skeleton, before they are fitted
/// points     (n) in their frame, z up
/// Method     Of the cylinders of the shoot at the base, those that begin within 3 m of it: the median of the median distances of
///            their points (axis_widths, up to 6 m). It is looked for where the points between 0.5 and 2 m above the lowest
///            one are that far from their middle.
/// Cost       O(n); where it is looked for, that of axis_widths.
double trunk_width(const std::vector<QsmCylinder>& cylinders, Span<const Vec3d> points, OpContext& ctx);

constexpr double kThickTrunk = 0.45;  // metres

}  // namespace pc
