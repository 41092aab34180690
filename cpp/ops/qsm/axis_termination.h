#pragma once
#include <vector>

#include "core/qsm.h"

namespace pc {

/// Lets axes end at forks of equals and where everything bends away (contract skeleton-qsm section 4.5): every child then
/// opens a shoot of the next rank; elsewhere the child with the largest growth length continues. Changes rank and shoot_id
/// of the cylinders alone; collect_shoots makes the table.
///
/// cylinders  parents before children, cyl_id = index, radii corrected
void axis_termination(std::vector<QsmCylinder>& cylinders, double fork_symmetry);

}  // namespace pc
