#pragma once
#include <cstdint>
#include <vector>

#include "core/qsm.h"

namespace pc {

/// An error that the radii of one set of cylinders have together: each has `share` of it.
struct SharedError {
  double sd = 0;              ///< standard deviation of ln(radius)
  std::vector<double> share;  ///< per cylinder; empty: 1 for all
};

/// How the errors of ln(radius) hang together: error = follows * error of the parent + one of its own of variance `fresh`,
/// plus what is shared. Parents before children, cyl_id = index.
struct RadiusErrors {
  std::vector<double> follows, fresh;
  std::vector<SharedError> shared;
};

/// Relative errors of the volume of stem (rank 0) and branches, as variances and covariance of its logarithm.
struct VolumeErrors {
  double stem_m3 = 0, branches_m3 = 0;  ///< volumes
  double stem = 0, branches = 0, both = 0;
};

/// First order: ln(volume) of a cylinder errs by twice the error of its ln(radius). Exact for the errors' own covariance, in
/// one pass from the tips to the base. O(n).
VolumeErrors volume_errors(const std::vector<QsmCylinder>& cylinders, const RadiusErrors& errors);

/// Errors that the cylinders of a segment (pieces of one axis between forks) have together and others do not know of.
RadiusErrors segment_errors(const std::vector<QsmCylinder>& cylinders, double common_sd);

}  // namespace pc
