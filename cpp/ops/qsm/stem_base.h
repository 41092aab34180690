#pragma once
#include "ops/qsm/build_qsm.h"

namespace pc {

/// Draws the stem of a model out to the ground: its lowest points lie above it, where the ground is labelled as such, behind herbs, or
/// below a scanner that is near. Volume and intervals grow with it.
///
/// ground_z  level of the ground under the lowest points, frame of the model; NaN: not known
/// Method    The first cylinder is lengthened along its axis, with its radius, by up to 1 m; one that leans by more than 45
///           degrees stays. From 0.3 m on a warning tells it. Of plants that were enlarged (plant_scale.h) both in proportion:
///           a stem that ends at the rim of its pot is not drawn through it.
/// Returns   how far the first cylinder began above the ground, metres, at least 0; NaN if that is not known
double draw_to_ground(QsmBuildResult& built, double ground_z);

}  // namespace pc
