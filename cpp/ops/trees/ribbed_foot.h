#pragma once
#include <optional>

#include "core/span.h"
#include "core/vec3.h"
#include "ops/trees/stem_curve.h"

namespace pc {

/// What widens a stem at breast height: buttresses, flutes or prop roots.
struct RibbedFoot {
  double
      reach_m;  ///< at breast height, beyond the circle of the stem between the ribs: 90th percentile of the points
  double top_m;                         ///< above stem_base along the axis: from here on the stem is round
  double axial_m, diameter_m, sigma_m;  ///< the section at least kAboveFoot above it; NaN = none is well seen
};

/// Finds what widens the foot of a stem up to above breast height.
///
/// points   (n) of the tree, metres
/// stem     with its curve, whose sections are circles between the ribs, and above them
/// Method   By levels of 0.25 m along the axis up to 12 m: how far nine tenths of the points that are at most 3 m
///          outside lie outside of the stem. A level is round up to a tenth of the radius, and at least 3 cm. A foot
///          is what is not round from the ground to above breast height, falls towards the stem from level to level,
///          by a fifth halfway up and by half between the lowest one and the last below the top (ivy is as thick all
///          the way up), and ends where two levels are round: branches, leaves and shrubs do not fall so. What lies
///          outside at breast height, farther than half of what nine tenths reach, is in three quarters of the
///          sectors of 10 degrees at most: leaves lie all around.
/// Section  The first one of the curve that is ok, 0.5 m above the top or higher, as girths above buttresses are taken
///          (Cushman et al. 2014, Methods in Ecology and Evolution 5: 573).
/// Cost     O(n).
std::optional<RibbedFoot> ribbed_foot(Span<const Vec3d> points, const Stem& stem, double breast_height_m);

}  // namespace pc
