#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "ops/fit/least_squares.h"

namespace pc {

enum class MoreStarts : std::uint8_t { kNever, kOnFailure, kAlways };

struct MultiStartParams {
  /// (parameter_count) 1 = the model is a linear function of these parameters together; others are 0.
  std::vector<std::uint8_t> linear;
  /// Sum of squares of the data about their mean: a residual sum far below it needs no second start.
  double total_squares;
  MoreStarts more;  ///< when to try other starts than the given one
};

struct MultiStartFit {
  LeastSquaresFit fit;
  std::size_t start_count;       ///< starts that were fitted
  std::size_t evaluation_count;  ///< of all of them
};

/// Levenberg-Marquardt from the given start and, if that one fails, from the best of many others.
///
/// A start fails if its fit does not converge, ends at a bound or with an undetermined parameter, or leaves more than 1 %
/// of the variation while one of 24 other points is already better. The other points lie within the bounds and within four
/// orders of magnitude of the start; linear parameters are solved for at each.
///
/// Order    The same points every time. The fit with the lowest cost wins; among equal ones (1e-9) the first that converged.
/// Cost     At most 400 evaluations for the points, 12 further fits of at most 200 evaluations each, and the best one to its end.
/// Cancel   As levenberg_marquardt.
MultiStartFit fit_from_many_starts(const LeastSquaresProblem& problem, Span<const double> start,
                                   const LeastSquaresParams& params, const MultiStartParams& starts,
                                   OpContext& ctx);

}  // namespace pc
