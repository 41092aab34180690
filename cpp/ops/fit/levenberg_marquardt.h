#pragma once
#include "core/op_context.h"
#include "ops/fit/least_squares.h"

namespace pc {

/// Minimises the sum of squared residuals, or of a robust loss of them, within bounds.
///
/// start    (parameter_count) moved into the bounds
/// Order    Levenberg-Marquardt with exact derivatives; each damped step solves its bounded linear problem exactly (active
///          set on the triangle of a Householder factorisation, columns scaled by their norms, which fall by at most 0.3 a step). Once
///          costs differ by rounding alone, undamped steps go on as long as they become shorter. Same bits for any thread
///          count.
/// Cost     O(residual_count parameter_count^2) per evaluation with derivatives.
/// Cancel   Between evaluations and every 256 residuals.
/// Errors   kInvalidArgument: lengths that do not fit, bounds that cross.
/// Source   Moré 1978, Lecture Notes in Mathematics 630: 105 (scaling); Nielsen 1999, IMM-REP-1999-05 (damping); Triggs et
///          al. 2000, LNCS 1883: 298, section 4.3 (robust loss); Stark & Parker 1995, Computational Statistics 10: 129 (bounds).
LeastSquaresFit levenberg_marquardt(const LeastSquaresProblem& problem, Span<const double> start,
                                    const LeastSquaresParams& params, OpContext& ctx);

}  // namespace pc
