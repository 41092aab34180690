#pragma once
#include <limits>
#include <vector>

#include "core/op_context.h"
#include "core/qsm.h"
#include "core/span.h"
#include "ops/qsm/fit_cylinders.h"

namespace pc {

/// What the stretch of stem around a cylinder tells of its radius.
struct StretchRadius {
  double radius_m = std::numeric_limits<double>::quiet_NaN();  ///< girth / (2 pi); NaN: nothing
  double sigma_m = 0;  ///< its standard error, with that of the ellipse
  double oval_m = 0;   ///< the part of it that the ellipse has, which is the same all along a stem
  double sharing = 1;  ///< cylinders whose radii come from the same points
};

/// Radii of stems (rank 0) that are seen from one side. Circles through the points of one cylinder scatter there by a tenth and
/// more, and the smaller they come out the surer they look: their mean, by precision, is too small. A stretch of up to 1.6 m to
/// each side, as measure_stem_girth takes it for a diameter at breast height, has points enough.
///
/// seeds      cylinders before they were fitted, along the middles of their points
/// fitted     the same, as fitted
/// points     (n) those of fit_cylinders
/// Method     Stretches have their middles 0.5 m apart. The bend of the seeds' axis (its square part) is taken out of their points.
///            One in which the points scatter by more than 1 cm about the surface, or whose radius errs by more than a seventh, tells
///            nothing: it lies in branches. Nor does one that is seen in two columns of points alone (circle_evidence.h). Cylinders between two middles have the radius between theirs.
/// Where      On stems of a metre and more with a radius of 1.5 cm and more, where most cylinders within half a metre show less
///            than 3/4 of the circle (one of them may show more by itself: a circle that came out small is easily whole).
/// Order      The same for any thread count.
/// Cost       O(points of the stems): some milliseconds for each stretch. Cancel within 100 ms.
std::vector<StretchRadius> stem_stretches(const std::vector<QsmCylinder>& seeds,
                                          const std::vector<QsmCylinder>& fitted,
                                          const FittedSurface& surface, Span<const Vec3d> points,
                                          OpContext& ctx);

}  // namespace pc
