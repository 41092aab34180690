#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/js_values.h"
#include "ops/fit/prospect.h"
#include "ops/fit/prospect_inversion.h"

namespace pc::binding {

namespace {

Napi::Object estimate_to_js(Napi::Env env, const LeafEstimate& estimate) {
  auto parameters = Napi::Array::New(env);
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < kLeafParameters; ++i) {
    if (!estimate.is_fitted[i]) continue;
    auto one = Napi::Object::New(env);
    one.Set("index", static_cast<double>(i));
    one.Set("value", estimate.value[i]);
    one.Set("std_error", number_or_null(env, estimate.standard_error[i]));
    one.Set("prior_share", estimate.prior_share[i]);
    parameters.Set(count++, one);
  }
  auto out = Napi::Object::New(env);
  out.Set("parameters", parameters);
  out.Set("fitted", to_js(env, estimate.fitted));
  out.Set("converged", estimate.converged);
  return out;
}

struct Inverted {
  LeafMeasurement measured;
  LeafFit fit;
};

Napi::Value inverted_to_js(Napi::Env env, Inverted&& inverted) {
  auto out = estimate_to_js(env, inverted.fit.estimate);
  std::vector<double> wavelengths;
  for (const std::uint32_t i : inverted.measured.index)
    wavelengths.push_back(static_cast<double>(kFirstWavelength_nm + i));
  out.Set("wavelengths", to_js(env, wavelengths));
  out.Set("measured", to_js(env, inverted.measured.reflectance));
  out.Set("likelihood", inverted.fit.likelihood
                            ? Napi::Value(estimate_to_js(env, *inverted.fit.likelihood).Get("parameters"))
                            : env.Null());
  return out;
}

FullInversionParams full_params(const Napi::Object& js) {
  return {{number_field(js, "vis_weight"), number_field(js, "vis_min"), number_field(js, "vis_max"),
           number_field(js, "green_center"), number_field(js, "rededge_center"),
           number_field(js, "violet_center"), number_field(js, "window_sigma"),
           number_field(js, "feature_boost"), number_field(js, "violet_boost")},
          strict_choice<Loss>(js.Get("loss"), "loss",
                              {{"linear", Loss::kLinear},
                               {"soft_l1", Loss::kSoftL1},
                               {"huber", Loss::kHuber},
                               {"cauchy", Loss::kCauchy},
                               {"arctan", Loss::kArctan}}),
          number_field(js, "f_scale"),
          bool_field(js, "stage1")};
}

// invertLeaf(spectrum: { wavelengths, reflectance }, params: LeafInversionParams): NativeJob<InvertedLeaf>
Napi::Value invert_leaf_job(const Napi::CallbackInfo& info) {
  const auto spectrum = strict_object(info[0], "spectrum"), js = strict_object(info[1], "params");
  const auto wavelengths = number_list(spectrum.Get("wavelengths"), "wavelengths");
  const auto reflectance = number_list(spectrum.Get("reflectance"), "reflectance");
  const LeafFitParams params{
      strict_choice<LeafInversion>(js.Get("inversion"), "inversion",
                                   {{"full", LeafInversion::kFull},
                                    {"likelihood", LeafInversion::kLikelihood},
                                    {"windowed", LeafInversion::kWindowed}}),
      strict_choice<LeafModelKind>(js.Get("model"), "model",
                                   {{"D", LeafModelKind::kD}, {"PRO", LeafModelKind::kPro}}),
      bool_field(js, "do_calib"), whole_field<std::uint32_t>(js, "n_starts"), full_params(js)};
  return start_job<Inverted>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        Inverted out{leaf_measurement({wavelengths.data(), wavelengths.size()},
                                      {reflectance.data(), reflectance.size()}),
                     {}};
        out.fit = invert_leaf(prospect_model(), out.measured, params, ctx);
        return out;
      },
      inverted_to_js);
}

/// The published table instead of the compact form: { refractive_index, absorption: number[][] }.
std::shared_ptr<const ProspectModel> model_of(const Napi::Value& value) {
  if (is_nothing(value)) return {std::shared_ptr<const ProspectModel>(), &prospect_model()};
  const auto js = strict_object(value, "constants");
  LeafConstants constants{number_list(js.Get("refractive_index"), "refractive_index"), {}};
  const auto absorption = array_field(js, "absorption");
  if (absorption.Length() != kConstituents) refuse("absorption", std::to_string(kConstituents) + " spectra");
  for (std::uint32_t i = 0; i < kConstituents; ++i)
    constants.absorption[i] = number_list(absorption.Get(i), "absorption");
  return std::make_shared<const ProspectModel>(constants, kLeafIncidence_deg);
}

// leafSpectrum(traits: number[9], constants: LeafConstants | null, slopes: boolean): NativeJob<LeafSpectrum>
Napi::Value leaf_spectrum_job(const Napi::CallbackInfo& info) {
  const auto numbers = number_array<1 + kConstituents>(info[0], "traits");
  LeafTraits traits{numbers[0], {}};
  std::copy(numbers.begin() + 1, numbers.end(), traits.content.begin());
  const auto model = model_of(info[1]);
  const bool slopes = strict_bool(info[2], "slopes");
  return start_job<LeafSpectrum>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) { return prospect_spectrum(*model, traits, ctx); },
      [slopes](Napi::Env env, LeafSpectrum&& spectrum) -> Napi::Value {
        auto out = Napi::Object::New(env);
        auto reflectance_slope = Napi::Array::New(env), transmittance_slope = Napi::Array::New(env);
        for (std::uint32_t i = 0; slopes && i < 1 + kConstituents; ++i) {
          reflectance_slope.Set(i, to_js(env, spectrum.reflectance_slope[i]));
          transmittance_slope.Set(i, to_js(env, spectrum.transmittance_slope[i]));
        }
        out.Set("reflectance", to_js(env, spectrum.reflectance));
        out.Set("transmittance", to_js(env, spectrum.transmittance));
        out.Set("reflectance_slope", reflectance_slope);
        out.Set("transmittance_slope", transmittance_slope);
        return out;
      });
}

}  // namespace

void register_leaf_optics(Napi::Env env, Napi::Object exports) {
  add<invert_leaf_job>(env, exports, "invertLeaf");
  add<leaf_spectrum_job>(env, exports, "leafSpectrum");
}

}  // namespace pc::binding
