#pragma once
#include <cstddef>

#include "core/span.h"

namespace pc {

/// What the residuals of a fit say against it.
struct ResidualChecks {
  std::size_t outlier_row;  ///< row that lies farthest off the curve
  double
      outlier_deviations;  ///< its distance in standard deviations of the other rows, measured minus fitted; NaN = none
  double outlier_probability;  ///< that chance puts any row so far off; 1 = none
  std::size_t run_count;       ///< stretches of residuals of one sign
  double run_probability;      ///< that chance gives at most so many; 1 = there are no two signs
};

/// Looks for a row that does not belong to a fit by least squares, and for a curve that the rows do not follow.
///
/// residuals   (rows) measured minus fitted
/// errors      (rows) standard errors of the fitted values, as of the residuals; or empty = 0
/// order_by    (rows) what the stretches run along
/// degrees     of freedom of the residual variance; fewer than 3 = nothing is said
/// Order       The same for any order of rows whose order_by differ.
/// Cost        O(rows log rows)
/// Source      The outlier: externally studentized residuals with Bonferroni's bound (Cook & Weisberg 1982, Residuals and
///             Influence in Regression, section 2.2.2). The stretches: Wald & Wolfowitz 1940, Annals of Mathematical
///             Statistics 11: 147, exact.
ResidualChecks residual_checks(Span<const double> residuals, Span<const double> errors,
                               Span<const double> order_by, double degrees);

}  // namespace pc
