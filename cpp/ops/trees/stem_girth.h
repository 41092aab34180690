#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "core/span.h"
#include "core/vec3.h"
#include "ops/trees/circle_fit.h"
#include "ops/trees/stem_bark.h"

namespace pc {

/// The points of a stem near a circle of a section, up to a distance along the stem above it and below it, there only
/// down to the widened foot: across the axis (x, y) and along it (z), metres.
using StemStretch = std::function<std::vector<Vec3d>(const PlainCircle& at, double half_length_m)>;

struct StemGirth {
  Vec2d center;       ///< of the section
  double radius;      ///< girth / (2 pi)
  double sigma;       ///< standard error of the radius
  double arc;         ///< share of 36 sectors with points
  double misfit;      ///< mean of the points' squared distances to the surface, limited to that of an outlier
  double oval_sigma;  ///< the part of sigma by an ellipse that was not fitted; 0 where it was
  double half_length_m;  ///< of the stretch, to each side
  std::optional<CoveredBark>
      bark;  ///< between leaves that cover it, as of ivy: the girth is that of its points alone
};

/// Measures the girth of a stem from the surface of a stretch of it: a cone with an elliptic section, fitted to the
/// mean distances of cells of 10 degrees and 10 cm. One weight per cell, so that a side seen from near counts no more
/// than the others, and a stretch, so that bark and knots average out.
///
/// stretch  Points further from the surface than the inlier distance and a tenth of the radius are left out. The less
///          of the circle is seen, the longer the stretch, so that bark averages out: 0.15 m to each side from 3/4 of
///          the circle on, 0.4 m from half of it, else 1.6 m.
/// expected a circle of a section nearby; the fit starts from it, from circles through the stretch, and from wider ones
/// slice    that of the section itself, for the bark
/// axial_m  where the girth is wanted
/// Prior    Of the ellipse: ellipticity_square. Where less than .6 of the sectors are seen, a circle is fitted, and
///          what the ellipse may change counts as error. Of the taper: 1 cm of diameter per metre, give or take 1.5.
///          Of the axis: within 3 degrees of z.
/// Error    From the scatter of the cells, larger if neighbouring cells scatter alike, and the priors.
/// Cover    Where stem_bark.h finds bark between leaves, on the shortest stretch, and the girth of its points is
///          smaller by more than 1 mm of radius and twice its error, it is that.
/// Returns nothing if fewer than 6 cells have points or no fit has a radius in the limits.
/// Cost     O(n).
/// Source   Gauss-Newton with priors (maximum a posteriori) and Tukey's weights: Huber 1981, Robust statistics, 7.8;
///          the girth of r (1 + e/2 cos 2 phi) is 2 pi r (1 + e^2 / 4) to second order.
std::optional<StemGirth> measure_stem_girth(const StemStretch& stretch, const PlainCircle& expected,
                                            const PlainCircle& slice, double axial_m,
                                            const CircleFitParams& params);

}  // namespace pc
