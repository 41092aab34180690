#pragma once
#include <vector>

#include "core/op_context.h"
#include "core/qsm.h"

namespace pc {

struct VolumeInterval {
  double low, high;  ///< m3
};

struct VolumeIntervals {
  VolumeInterval total, stem, branches;
};

/// Relative standard errors of radii that err together.
struct CommonErrors {
  double all;       ///< of the whole tree
  double branches;  ///< of its branches, in addition
};

/// 95 % intervals of the volumes of a model, by resampling.
///
/// Draw      Every segment (pieces between forks) gets one error of its radius, from the standard errors of its cylinders;
///           the whole tree gets one more that all share, as parts of one tree err alike, and its branches another. Segments of branches are drawn
///           with a quarter of the weights of the Bayesian bootstrap, which stands for those that were missed or made up.
/// Seeds     A draw is a function of its number and the segment's place in the model: 400 draws, 2.5 and 97.5 % quantiles.
/// Order     Does not depend on threads.
/// Source    Rubin 1981, "The Bayesian bootstrap".
VolumeIntervals volume_intervals(const std::vector<QsmCylinder>& cylinders, const CommonErrors& common,
                                 OpContext& ctx);

}  // namespace pc
