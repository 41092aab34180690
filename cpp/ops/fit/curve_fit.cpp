#include "ops/fit/curve_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ops/fit/multi_start.h"
#include "ops/fit/parameter_uncertainty.h"
#include "ops/fit/profile_likelihood.h"
#include "ops/fit/student_t.h"

namespace pc {

namespace {

Span<const double> view(const std::vector<double>& values) { return {values.data(), values.size()}; }

double squares_about_mean(const std::vector<double>& values) {
  double mean = 0, sum = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

LeastSquaresProblem problem_of(CurvePrediction& prediction, const CurveData& data, std::size_t parameters,
                               const OpContext& ctx) {
  return {data.measured.size(), parameters,
          [&](Span<const double> x, Span<double> residuals, Span<double> jacobian) {
            if (!prediction.evaluate(x, residuals, jacobian, ctx)) return false;
            for (std::size_t i = 0; i < residuals.size; ++i) residuals[i] -= data.measured[i];
            return true;
          }};
}

/// What the rows run along: the only input that varies, else the fitted values.
Span<const double> along(const CurveData& data, const std::vector<double>& fitted) {
  const std::vector<double>* only = nullptr;
  for (const std::vector<double>& input : data.inputs) {
    const auto [least, most] = std::minmax_element(input.begin(), input.end());
    if (*least == *most) continue;
    if (only != nullptr) return view(fitted);
    only = &input;
  }
  return view(only == nullptr ? fitted : *only);
}

ResidualChecks checks_of(const CurveFit& fit, const CurveData& data, Loss loss) {
  std::vector<double> residuals = data.measured;
  for (std::size_t i = 0; i < residuals.size(); ++i) residuals[i] -= fit.fitted[i];
  return residual_checks(view(residuals), view(fit.fitted_std_errors), along(data, fit.fitted),
                         loss == Loss::kLinear ? fit.degrees : 0);
}

/// A curve without parameters.
CurveFit evaluated(CurvePrediction& prediction, const CurveData& data, const CurveFitParams& params,
                   OpContext& ctx) {
  CurveFit out{};
  out.fitted.resize(data.measured.size());
  if (!prediction.evaluate({}, {out.fitted.data(), out.fitted.size()}, {}, ctx))
    throw Error(ErrorCode::kInvalidArgument, "the curve has no finite value at some row of the data");
  std::vector<double> residuals = out.fitted;
  for (std::size_t i = 0; i < residuals.size(); ++i) residuals[i] -= data.measured[i];
  out.cost = cost_of(view(residuals), params.loss, params.loss_scale);
  out.degrees = static_cast<double>(residuals.size());
  out.variance = cost_of(view(residuals), Loss::kLinear, 1) / out.degrees;
  out.checks = checks_of(out, data, params.loss);
  out.end = FitEnd::kConverged;
  out.evaluation_count = 1;
  return out;
}

void add_intervals(CurveFit& out, const LeastSquaresProblem& problem, const LeastSquaresParams& params,
                   const LeastSquaresFit& fit, const CurveFitParams& asked, OpContext& ctx) {
  const std::size_t n = fit.x.size();
  const double none = std::nan("");
  const double t = out.degrees > 0 ? student_t_quantile((1 + asked.confidence_level) / 2, out.degrees) : none;
  for (std::size_t j = 0; j < n; ++j) {
    out.low.push_back(fit.x[j] - t * out.std_errors[j]);
    out.high.push_back(fit.x[j] + t * out.std_errors[j]);
  }
  if (!asked.profile) return;
  ctx.begin_phase("Profiling parameters", n);
  const ProfiledFit of{problem, params, fit, view(out.std_errors), out.variance};
  for (std::size_t j = 0; j < n; ++j) {
    out.profile_low.push_back(profile_limit(of, j, -1, t, ctx));
    out.profile_high.push_back(profile_limit(of, j, 1, t, ctx));
    ctx.advance(1);
  }
}

/// Standard errors of the fitted values by the derivatives of the curve; parameters without a standard error count as
/// known (Seber & Wild 2003, Nonlinear Regression, eq. 5.26).
std::vector<double> errors_of_values(const CurveFit& fit, const std::vector<double>& jacobian) {
  const std::size_t n = fit.values.size(), rows = fit.fitted.size();
  std::vector<std::size_t> known;
  for (std::size_t j = 0; j < n; ++j)
    if (std::isfinite(fit.std_errors[j])) known.push_back(j);
  std::vector<double> out(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    double variance = 0;
    for (const std::size_t a : known)
      for (const std::size_t b : known)
        variance += jacobian[a * rows + i] * fit.std_errors[a] * fit.correlation[a * n + b] *
                    fit.std_errors[b] * jacobian[b * rows + i];
    out[i] = std::sqrt(std::max(0.0, variance));
  }
  return out;
}

}  // namespace

CurveFit fit_curve(const CurveModel& model, const CurveData& data, const CurveFitParams& params,
                   OpContext& ctx) {
  require(params.confidence_level > 0 && params.confidence_level < 1,
          "confidence_level must lie between 0 and 1");
  require(!params.profile || params.loss == Loss::kLinear, "profile intervals need the linear loss");
  ctx.begin_phase("Fitting the curve", 0);
  CurvePrediction prediction(model, data);
  if (model.parameter_count == 0) return evaluated(prediction, data, params, ctx);
  const LeastSquaresProblem problem = problem_of(prediction, data, model.parameter_count, ctx);
  const LeastSquaresParams how{params.low, params.high, params.loss, params.loss_scale,
                               params.max_evaluations};
  const MultiStartFit found =
      fit_from_many_starts(problem, view(params.start), how,
                           {params.linear, squares_about_mean(data.measured), params.more_starts}, ctx);
  const LeastSquaresFit& fit = found.fit;
  if (fit.end == FitEnd::kUndefined) {
    throw Error(ErrorCode::kInvalidArgument,
                "the curve has no finite value or derivative at some row of the data, at the start values "
                "and everywhere "
                "else that was tried; choose other start values or bounds");
  }
  CurveFit out{};
  out.values = fit.x;
  ParameterUncertainty uncertainty = parameter_uncertainty(fit, params.loss, params.loss_scale);
  out.std_errors = std::move(uncertainty.std_errors);
  out.correlation = std::move(uncertainty.correlation);
  out.variance = uncertainty.variance;
  out.degrees = uncertainty.degrees;
  out.at_bound = fit.at_bound;
  out.undetermined = determination(fit).lost;
  out.cost = fit.cost;
  out.end = fit.end;
  out.start_count = found.start_count;
  out.evaluation_count = found.evaluation_count;
  add_intervals(out, problem, how, fit, params, ctx);
  out.fitted.resize(data.measured.size());
  std::vector<double> jacobian(fit.x.size() * out.fitted.size());
  prediction.evaluate(view(fit.x), {out.fitted.data(), out.fitted.size()}, {jacobian.data(), jacobian.size()},
                      ctx);
  if (out.degrees > 0) out.fitted_std_errors = errors_of_values(out, jacobian);
  out.checks = checks_of(out, data, params.loss);
  return out;
}

}  // namespace pc
