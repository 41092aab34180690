#pragma once
#include <vector>

#include "core/op_context.h"
#include "core/qsm.h"

namespace pc {

/// Takes out the cylinders that lie within another axis: where a scanner was near one side of a stem, its points are so many
/// that the level sets of the two sides do not meet, and a skeleton has an axis for each, which would count the wood twice.
///
/// seeds    cylinders before they were fitted, parents before children, cyl_id = index
/// fitted   the same, as fitted; mad is NaN where they were not
/// Method   A cylinder of 3 cm of radius or more whose ends and middle lie within 0.6 radii of the axis of fitted cylinders of one
///          other shoot, of which it turns away by less than 37 degrees and than which it is at most half as thick again, is a
///          twin. Of two shoots that of the lower rank stays, then the longer one.
/// Returns  the seeds without twins, parents before children, cyl_id = index; what a twin carried is carried by the cylinder around
///          its end, and is a shoot of its own. Empty: there are none.
/// Order    A function of the cylinders.
/// Cost     O(thick cylinders squared), 20 M comparisons for 5,000. Cancel within 100 ms.
/// Source   Own.
std::vector<QsmCylinder> without_twins(const std::vector<QsmCylinder>& seeds,
                                       const std::vector<QsmCylinder>& fitted, OpContext& ctx);

}  // namespace pc
