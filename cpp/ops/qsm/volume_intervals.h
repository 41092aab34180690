#pragma once
#include <vector>

#include "core/op_context.h"
#include "core/qsm.h"
#include "ops/qsm/radius_errors.h"

namespace pc {

struct VolumeInterval {
  double low, high;  ///< m3
};

struct VolumeIntervals {
  VolumeInterval total, stem, branches;
};

/// 95 % intervals of the volumes of a model, by resampling.
///
/// Draw      Stem and branches get one error of their volume each from the covariance of volume_errors. Segments of branches
///           (pieces between forks) are drawn with a quarter of the weights of the Bayesian bootstrap, which stands for those
///           that were missed or made up.
/// Seeds     A draw is a function of its number and the segment's place in the model: 1000 draws, 2.5 and 97.5 % quantiles.
/// Order     Does not depend on threads.
/// Source    Rubin 1981, "The Bayesian bootstrap".
VolumeIntervals volume_intervals(const std::vector<QsmCylinder>& cylinders, const RadiusErrors& errors,
                                 OpContext& ctx);

}  // namespace pc
