#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/fit/least_squares.h"

namespace pc {

/// Which parameters the residuals determine.
struct Determination {
  /// (n) 1 = not determined: with a part in a direction along which the residuals stay as they are (above 1e-3 of the
  /// direction, in units of the columns). Parameters held by a bound are not lost.
  std::vector<std::uint8_t> lost;
  /// Parameters that the bounds do not hold and whose derivatives are independent; they stand for those that depend on them.
  std::vector<std::size_t> independent;
};
Determination determination(const LeastSquaresFit& fit);

struct ParameterUncertainty {
  std::vector<double> std_errors;   ///< (n) NaN = held by a bound, not determined, or no degrees of freedom
  std::vector<double> correlation;  ///< (n x n) NaN where a standard error is
  double variance;                  ///< of a residual; NaN without degrees of freedom
  double degrees;                   ///< residuals less the parameters that the fit determined
};

/// Standard errors of the parameters of a fit, from the derivatives at its end.
///
/// Parameters at a bound count as known; those that the residuals do not determine have no standard error.
/// Order    s^2 (J^T J)^-1 by the triangle of J, columns scaled. With a robust loss, s^2 is K^2 sum(psi^2) / (m - n) /
///          mean(psi')^2.
/// Cost     O(residuals + n^3).
/// Source   Seber & Wild 2003, Nonlinear Regression, eq. 2.17 and 2.18; robust: Huber 1981, Robust Statistics, eq. 7.6.5.
ParameterUncertainty parameter_uncertainty(const LeastSquaresFit& fit, Loss loss, double loss_scale);

}  // namespace pc
