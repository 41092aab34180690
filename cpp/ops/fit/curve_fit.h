#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "ops/fit/curve_model.h"
#include "ops/fit/least_squares.h"
#include "ops/fit/multi_start.h"
#include "ops/fit/residual_checks.h"

namespace pc {

struct CurveFitParams {
  std::vector<double> start, low, high;  ///< (parameters)
  std::vector<std::uint8_t> linear;  ///< (parameters) 1 = the curve is linear in these parameters together
  Loss loss;
  double loss_scale;            ///< unit of the output; unused by Loss::kLinear
  std::size_t max_evaluations;  ///< of each start
  MoreStarts more_starts;       ///< when to try other starts than the given one
  double confidence_level;      ///< of the intervals, between 0 and 1
  bool profile;                 ///< intervals by the profile likelihood too
};

struct CurveFit {
  std::vector<double> values;      ///< (parameters)
  std::vector<double> std_errors;  ///< (parameters) NaN = none
  std::vector<double> low, high;   ///< (parameters) value -+ t std_error; NaN = none
  std::vector<double> profile_low,
      profile_high;                        ///< (parameters) NaN = open or not found; empty = not asked for
  std::vector<double> correlation;         ///< (parameters^2) NaN = none
  std::vector<std::int8_t> at_bound;       ///< (parameters) -1 lower, 1 upper
  std::vector<std::uint8_t> undetermined;  ///< (parameters) 1 = the data do not determine it
  std::vector<double> fitted;              ///< (rows)
  std::vector<double> fitted_std_errors;   ///< (rows) of the fitted values; empty = no degrees of freedom
  ResidualChecks
      checks;       ///< of the linear loss; stretches run along the input that varies, or along the curve
  double cost;      ///< loss_scale^2 sum of rho
  double variance;  ///< of a residual; NaN without degrees of freedom
  double degrees;
  FitEnd end;
  std::size_t start_count, evaluation_count;
};

/// Fits the parameters of a curve by least squares.
///
/// A curve without parameters is evaluated only.
/// Order    The same bits every time.
/// Cost     As fit_from_many_starts; the profile needs about 20 fits per parameter.
/// Cancel   Every 64 rows.
/// Errors   kInvalidArgument: as CurvePrediction and levenberg_marquardt; a curve that has no finite value at any start; a
///          profile with a robust loss.
/// Source   Intervals: Seber & Wild 2003, Nonlinear Regression, section 5.1; profile: Bates & Watts 1988, Nonlinear
///          Regression Analysis, section 6.1.2.
CurveFit fit_curve(const CurveModel& model, const CurveData& data, const CurveFitParams& params,
                   OpContext& ctx);

}  // namespace pc
