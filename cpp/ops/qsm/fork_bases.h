#pragma once
#include <vector>

#include "core/qsm.h"

namespace pc {

/// Lets every shoot begin where its own axis, drawn out backwards, meets that of the shoot that carries it: the cylinder
/// of the fork, the one before or the one after it, which becomes its parent. A skeleton's fork is the middle of the points
/// of both, away from where the axes meet.
///
/// A shoot whose first cylinder was not fitted, is shorter than twice its radius or misses the axis by more than the
/// carrier's radius begins at the point of the fork's cylinder that is nearest to it.
///
/// cylinders  parents before children, cyl_id = index; parent_id and start may change
/// most_m     how far an axis is drawn out, in addition to the carrier's radius
void meet_parents(std::vector<QsmCylinder>& cylinders, double most_m);

}  // namespace pc
