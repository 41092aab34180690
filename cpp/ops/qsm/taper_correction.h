#pragma once
#include <vector>

#include "core/qsm.h"

namespace pc {

/// How far a measured radius is believed: surf_cov / 0.7, at most 1; unknown coverage counts as none.
double radius_trust(const QsmCylinder& cylinder);

/// Makes values non-increasing by weighted least squares (pool adjacent violators; Ayer et al. 1955).
void non_increasing(std::vector<double>& values, const std::vector<double>& weights);

/// Corrects the radii of a model under construction (contract skeleton-qsm section 4.4): isotonic along each shoot, thinner
/// where only one side was seen (rank 1 and higher), ends at least the twig's radius, pipe bound (exponent 2.5), isotonic
/// again, and no branch thicker than what carries it.
///
/// cylinders  parents before children, cyl_id = index; shoots in order base to tip
void taper_correction(std::vector<QsmCylinder>& cylinders, const std::vector<QsmShoot>& shoots,
                      double twig_radius_m);

}  // namespace pc
