#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "core/qsm.h"

namespace pc {

/// Mean and variance of a Gaussian; infinite variance: nothing is known.
struct Belief {
  double mean = 0;
  double variance = std::numeric_limits<double>::infinity();
};

/// What the law of taper says of each cylinder, parents before children.
struct TaperPrior {
  std::vector<double> log_radius;  ///< of its law
  std::vector<double> spread;      ///< standard deviation of ln(radius / law)
  std::vector<double> growth_m;    ///< length that it carries
  std::vector<std::uint32_t>
      law_of;  ///< number of its law: deviations from different laws have nothing in common
};

/// Deviation ln(radius / law) of each cylinder, and how the errors of these estimates hang together.
struct TaperPosterior {
  std::vector<Belief> deviation;
  std::vector<double> follows;  ///< error = follows * error of the parent + one of its own ..
  std::vector<double> fresh;    ///< .. of this variance
  std::vector<double>
      law_share;  ///< how much of an error of its law's level the estimate keeps: 1 where nothing was measured
  std::vector<double>
      level_information;  ///< 1 / variance of the level that measured radii leave it, by number of the law
};

/// Deviations given measured logarithms of radii.
///
/// Model      A Gauss-Markov process on the tree, computed in two passes: what deviates from the law changes little along an
///            axis, more at a fork, the more the less of the growth the branch has. Where the law jumps because a branch leaves
///            the axis, the size of that jump is uncertain: an axis that tapers evenly past its whorls keeps its measured radii.
///            A branch learns from what carries it but tells it nothing, since many branches that their law misses would
///            outvote a stem that was measured.
/// Robust     What lies far from the estimate counts less (three rounds of Student weights).
/// Level      The information on a constant added to a law is 1' S^-1 1, S the covariance of measured deviations: the sum of
///            law_share over the variance of each measurement.
/// Cost       O(n)
TaperPosterior taper_posterior(const std::vector<QsmCylinder>& cylinders, const std::vector<Belief>& measured,
                               const TaperPrior& prior);

}  // namespace pc
