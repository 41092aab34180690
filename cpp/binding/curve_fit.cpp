#include "ops/fit/curve_fit.h"

#include <memory>
#include <utility>
#include <vector>

#include "binding/coded.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"

namespace pc::binding {

namespace {

Napi::Array numbers_to_js(Napi::Env env, const std::vector<double>& numbers) {
  auto out = Napi::Array::New(env, numbers.size());
  std::uint32_t at = 0;
  for (const double number : numbers) out.Set(at++, number_or_null(env, number));
  return out;
}

template <class Marks>
Napi::Array marks_to_js(Napi::Env env, const Marks& marks) {
  auto out = Napi::Array::New(env, marks.size());
  std::uint32_t at = 0;
  for (const auto mark : marks) out.Set(at++, static_cast<double>(mark));
  return out;
}

std::vector<double> numbers_field(const Napi::Object& js, const char* name) {
  return number_list(js.Get(name), name);
}

/// Whole numbers from 0 to `most`.
template <class T>
std::vector<T> whole_list(const Napi::Object& js, const char* name) {
  const Napi::Array array = array_field(js, name);
  std::vector<T> out;
  out.reserve(array.Length());
  for (std::uint32_t i = 0; i < array.Length(); ++i) out.push_back(strict_whole<T>(array.Get(i), name));
  return out;
}

CurveModel curve_model(const Napi::Object& js) {
  return {{whole_list<std::uint32_t>(js, "code"), numbers_field(js, "constants"),
           whole_field<std::size_t>(js, "symbol_count")},
          whole_field<std::size_t>(js, "parameter_count"),
          bool_field(js, "implicit")};
}

CurveData curve_data(const Napi::Object& js) {
  CurveData data{{}, numbers_field(js, "measured")};
  const Napi::Array inputs = array_field(js, "inputs");
  for (std::uint32_t i = 0; i < inputs.Length(); ++i)
    data.inputs.push_back(number_list(inputs.Get(i), "inputs"));
  return data;
}

CurveFitParams curve_fit_params(const Napi::Object& js) {
  return {.start = numbers_field(js, "start"),
          .low = numbers_field(js, "low"),
          .high = numbers_field(js, "high"),
          .linear = whole_list<std::uint8_t>(js, "linear"),
          .loss = strict_choice<Loss>(js.Get("loss"), "loss",
                                      {{"linear", Loss::kLinear},
                                       {"soft_l1", Loss::kSoftL1},
                                       {"huber", Loss::kHuber},
                                       {"cauchy", Loss::kCauchy},
                                       {"arctan", Loss::kArctan}}),
          .loss_scale = number_field(js, "loss_scale"),
          .max_evaluations = whole_field<std::size_t>(js, "max_evaluations"),
          .more_starts = strict_choice<MoreStarts>(js.Get("more_starts"), "more_starts",
                                                   {{"never", MoreStarts::kNever},
                                                    {"on_failure", MoreStarts::kOnFailure},
                                                    {"always", MoreStarts::kAlways}}),
          .confidence_level = number_field(js, "confidence_level"),
          .profile = bool_field(js, "profile")};
}

const char* end_name(FitEnd end) {
  switch (end) {
    case FitEnd::kConverged:
      return "converged";
    case FitEnd::kEvaluationLimit:
      return "evaluation_limit";
    case FitEnd::kUndefined:
      return "undefined";
    case FitEnd::kStalled:
      return "stalled";
  }
  return "stalled";
}

Napi::Object checks_to_js(Napi::Env env, const ResidualChecks& checks) {
  auto out = Napi::Object::New(env);
  out.Set("outlier_row", static_cast<double>(checks.outlier_row));
  out.Set("outlier_deviations", number_or_null(env, checks.outlier_deviations));
  out.Set("outlier_probability", checks.outlier_probability);
  out.Set("run_count", static_cast<double>(checks.run_count));
  out.Set("run_probability", checks.run_probability);
  return out;
}

Napi::Value curve_fit_to_js(Napi::Env env, CurveFit&& fit) {
  auto out = Napi::Object::New(env);
  out.Set("values", numbers_to_js(env, fit.values));
  out.Set("std_errors", numbers_to_js(env, fit.std_errors));
  out.Set("low", numbers_to_js(env, fit.low));
  out.Set("high", numbers_to_js(env, fit.high));
  out.Set("profile_low", numbers_to_js(env, fit.profile_low));
  out.Set("profile_high", numbers_to_js(env, fit.profile_high));
  out.Set("correlation", numbers_to_js(env, fit.correlation));
  out.Set("at_bound", marks_to_js(env, fit.at_bound));
  out.Set("undetermined", marks_to_js(env, fit.undetermined));
  out.Set("fitted", numbers_to_js(env, fit.fitted));
  out.Set("fitted_std_errors", numbers_to_js(env, fit.fitted_std_errors));
  out.Set("checks", checks_to_js(env, fit.checks));
  out.Set("cost", fit.cost);
  out.Set("variance", number_or_null(env, fit.variance));
  out.Set("degrees", fit.degrees);
  out.Set("end", end_name(fit.end));
  out.Set("start_count", static_cast<double>(fit.start_count));
  out.Set("evaluation_count", static_cast<double>(fit.evaluation_count));
  return out;
}

// fitCurve(curve: CurveModel, data: CurveData, params: CurveFitParams): NativeJob<CurveFit>
Napi::Value fit_curve_job(const Napi::CallbackInfo& info) {
  auto model = std::make_shared<const CurveModel>(curve_model(strict_object(info[0], "curve")));
  auto data = std::make_shared<const CurveData>(curve_data(strict_object(info[1], "data")));
  const CurveFitParams params = curve_fit_params(strict_object(info[2], "params"));
  return start_job<CurveFit>(
      info.Env(), job_options(info[3]), [=](OpContext& ctx) { return fit_curve(*model, *data, params, ctx); },
      [](Napi::Env env, CurveFit&& fit) -> Napi::Value { return curve_fit_to_js(env, std::move(fit)); });
}

}  // namespace

void register_curve_fit(Napi::Env env, Napi::Object exports) { add<fit_curve_job>(env, exports, "fitCurve"); }

}  // namespace pc::binding
