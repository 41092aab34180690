#pragma once
#include <cstddef>

#include "core/op_context.h"
#include "ops/fit/least_squares.h"

namespace pc {

/// The minimum of a least squares problem, and the scale of its parameters.
struct ProfiledFit {
  const LeastSquaresProblem& problem;
  const LeastSquaresParams& params;  ///< kLinear
  const LeastSquaresFit& fit;
  Span<const double> std_errors;  ///< (parameter_count) NaN = none
  double variance;                ///< of a residual
};

/// The value of parameter j, below (side = -1) or above (side = 1) its best one, where the least sum of squares with it held
/// there exceeds the minimum by t^2 variance: the limit of the interval of the profile likelihood.
///
/// Returns the bound if the sum stays lower up to it, and NaN if it stays lower for 1e6 standard errors, where the parameter
/// has no standard error, or where a fit with the parameter held does not converge.
/// Cost     About 10 fits.
/// Source   Bates & Watts 1988, Nonlinear Regression Analysis, section 6.1.2.
double profile_limit(const ProfiledFit& of, std::size_t j, int side, double t, OpContext& ctx);

}  // namespace pc
