#include "ops/fit/prospect_inversion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/random.h"
#include "ops/fit/leaf_noise.h"

namespace pc {

namespace {

using Mask = std::array<bool, kLeafParameters>;

constexpr std::uint64_t kSeed = 42;
constexpr double kVisibleEnd_nm = 750;
constexpr std::size_t kFirstEvaluations = 4000, kEvaluations = 6000;

std::size_t index_of(double nm) { return static_cast<std::size_t>(nm) - kFirstWavelength_nm; }
double nm_of(std::size_t index) { return static_cast<double>(kFirstWavelength_nm + index); }

Mask fitted_parameters(LeafModelKind kind, bool calibrate) {
  Mask mask{};
  mask.fill(true);
  const bool is_pro = kind == LeafModelKind::kPro;
  mask[parameter_of(kDryMatter)] = !is_pro;
  mask[parameter_of(kProtein)] = mask[parameter_of(kCarbonBased)] = is_pro;
  mask[kCalibrationScale] = mask[kCalibrationOffset] = calibrate;
  return mask;
}

/// Start of a number: prior means, from the second on each times 0.85 to 1.15; nothing of what is not fitted.
LeafParameters start_of(std::uint64_t number, const Mask& is_fitted) {
  LeafParameters start{};
  for (std::size_t i = 0; i < kLeafParameters; ++i) {
    const LeafParameterRange& range = leaf_parameter_ranges()[i];
    const double factor = number == 0 ? 1 : 0.85 + 0.3 * random_unit(kSeed, number * kLeafParameters + i);
    start[i] = is_fitted[i] ? std::clamp(range.prior_mean * factor, range.lower, range.upper) : 0;
  }
  if (!is_fitted[kCalibrationScale]) start[kCalibrationScale] = 1;
  return start;
}

/// Solves an objective from several starts; the lowest cost wins, the first of equals.
template <class Solve>
LeafSolution best_of(std::uint32_t start_count, OpContext& ctx, const Solve& solve) {
  std::vector<LeafSolution> solutions(start_count);
  parallel_for(ctx, start_count, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) solutions[i] = solve(i);
  });
  return *std::min_element(solutions.begin(), solutions.end(),
                           [](const LeafSolution& a, const LeafSolution& b) { return a.cost < b.cost; });
}

std::vector<double> full_weights(const LeafMeasurement& spectrum, const LeafWeights& w) {
  const auto bell = [&](double nm, double center) {
    const double u = (nm - center) / w.window_sigma_nm;
    return std::exp(-0.5 * u * u);
  };
  std::vector<double> weights;
  for (const std::uint32_t i : spectrum.index) {
    const double nm = nm_of(i);
    const double band = nm >= w.visible_min_nm && nm <= w.visible_max_nm ? w.visible : 1;
    weights.push_back(band + w.feature * (bell(nm, w.green_nm) + bell(nm, w.red_edge_nm)) +
                      w.violet * bell(nm, w.violet_nm));
  }
  return weights;
}

void check_full(const FullInversionParams& params) {
  const LeafWeights& w = params.weights;
  const auto within = [](double value, double least, double most, const char* what) {
    if (!(value >= least && value <= most)) throw Error(ErrorCode::kInvalidArgument, what);
  };
  within(w.visible, 0, 1e6, "the weight of the visible band must be from 0 to 1e6");
  within(w.feature, 0, 1e6, "the weight of the green and red-edge windows must be from 0 to 1e6");
  within(w.violet, 0, 1e6, "the weight of the violet window must be from 0 to 1e6");
  within(w.window_sigma_nm, 1e-3, 1e6, "the width of the windows must be from 0.001 to 1e6 nm");
  within(params.loss_scale, 1e-6, 1e6, "the scale of the loss must be from 1e-6 to 1e6");
  for (const double nm : {w.visible_min_nm, w.visible_max_nm, w.green_nm, w.red_edge_nm, w.violet_nm})
    within(nm, -1e6, 1e6, "wavelengths of weights must be from -1e6 to 1e6 nm");
}

/// The objective over the wavelengths of a range.
LeafObjective cut_to(const LeafObjective& objective, double last_nm) {
  LeafObjective cut = objective;
  const auto count = static_cast<std::size_t>(
      std::upper_bound(cut.index.begin(), cut.index.end(), index_of(last_nm)) - cut.index.begin());
  cut.index.resize(count);
  cut.measured.resize(count);
  cut.weight.resize(count);
  return cut;
}

/// Every k-th wavelength of an objective, so that about 200 are left.
LeafObjective thinned(const LeafObjective& objective) {
  constexpr std::size_t kWavelengths = 200;
  const std::size_t stride = std::max<std::size_t>(1, objective.index.size() / kWavelengths);
  LeafObjective thin = objective;
  thin.index.clear();
  thin.measured.clear();
  thin.weight.clear();
  for (std::size_t i = 0; i < objective.index.size(); i += stride) {
    thin.index.push_back(objective.index[i]);
    thin.measured.push_back(objective.measured[i]);
    thin.weight.push_back(objective.weight[i]);
  }
  return thin;
}

struct Residuals {
  std::vector<double> fitted, residual;
};
Residuals residuals_of(const LeafObjective& objective, const LeafParameters& at) {
  Residuals out;
  for (std::size_t i = 0; i < objective.index.size(); ++i) {
    out.fitted.push_back(leaf_row(objective.model, objective.index[i], at).value);
    out.residual.push_back(out.fitted[i] - objective.measured[i]);
  }
  return out;
}
LeafNoise noise_of(const Residuals& of, const Mask& is_free) {
  return leaf_noise({of.residual.data(), of.residual.size()}, {of.fitted.data(), of.fitted.size()},
                    static_cast<std::size_t>(std::count(is_free.begin(), is_free.end(), true)));
}

/// The most probable leaf on some wavelengths, with the covariance of the posterior.
struct Posterior {
  LeafParameters value;
  LeafMatrix covariance;
  LeafNoise noise;
  bool converged;
};

/// objective        its weights, prior and loss are set here
/// start_of_number  all parameters of a start; those that are not free keep their value
template <class StartOf>
Posterior posterior(LeafObjective objective, std::uint32_t start_count, const StartOf& start_of_number,
                    OpContext& ctx) {
  constexpr double kFirstNoise = 0.01;
  constexpr int kRounds = 2;
  objective.loss = Loss::kLinear;
  objective.prior_strength = 1;
  objective.weight.assign(objective.index.size(), 1 / kFirstNoise);
  const LeafObjective thin = thinned(objective);
  LeafParameters at = best_of(start_count, ctx, [&](std::size_t number) {
                        return solve_leaf(thin, start_of_number(number), kEvaluations, ctx);
                      }).parameters;
  LeafSolution solution = solve_leaf(objective, at, kEvaluations, ctx);
  LeafNoise noise{};
  for (int round = 0; round < kRounds; ++round) {
    const Residuals left = residuals_of(objective, solution.parameters);
    noise = noise_of(left, objective.is_free);
    for (std::size_t i = 0; i < objective.weight.size(); ++i)
      objective.weight[i] = 1 / std::sqrt(noise.variance(left.fitted[i]) * noise.correlated_count);
    solution = solve_leaf(objective, solution.parameters, kEvaluations, ctx);
  }
  std::vector<double> factor;
  for (const double weight : objective.weight) factor.push_back(weight * weight);
  LeafMatrix information = leaf_products(objective, solution.parameters, {factor.data(), factor.size()});
  for (std::size_t i = 0; i < kLeafParameters; ++i) {
    const double sd = leaf_parameter_ranges()[i].prior_sd;
    information[i][i] += 1 / (sd * sd);
  }
  return {solution.parameters, inverse_over(information, objective.is_free), noise, solution.converged};
}

/// Value and spectrum of an estimate; the errors are still missing.
LeafEstimate estimate_of(const ProspectModel& model, const LeafMeasurement& spectrum, const Mask& is_fitted,
                         const LeafParameters& value) {
  LeafEstimate out{};
  out.value = value;
  out.is_fitted = is_fitted;
  out.standard_error.fill(std::numeric_limits<double>::quiet_NaN());
  double sum = 0;
  for (std::size_t i = 0; i < spectrum.index.size(); ++i) {
    out.fitted.push_back(leaf_row(model, spectrum.index[i], value).value);
    const double residual = out.fitted[i] - spectrum.reflectance[i];
    sum += residual * residual;
  }
  out.noise_sd = std::sqrt(sum / static_cast<double>(spectrum.index.size()));
  out.correlated_count = 1;
  return out;
}

void set_error(LeafEstimate& out, const LeafMatrix& covariance, std::size_t i, bool with_prior) {
  const double sd = leaf_parameter_ranges()[i].prior_sd;
  out.standard_error[i] = std::sqrt(covariance[i][i]);
  out.prior_share[i] = with_prior ? covariance[i][i] / (sd * sd) : 0;
}

LeafMatrix product(const LeafMatrix& a, const LeafMatrix& b) {
  LeafMatrix out{};
  for (std::size_t i = 0; i < kLeafParameters; ++i)
    for (std::size_t j = 0; j < kLeafParameters; ++j)
      for (std::size_t k = 0; k < kLeafParameters; ++k) out[i][j] += a[i][k] * b[k][j];
  return out;
}

/// Covariance of the estimates of an objective under the noise: H^-1 M H^-1.
LeafMatrix sandwich(const LeafObjective& objective, const LeafParameters& at, const Residuals& left,
                    const LeafNoise& noise) {
  std::vector<double> curvature, pull;
  for (std::size_t n = 0; n < objective.index.size(); ++n) {
    const double weight = objective.weight[n], r = weight * left.residual[n];
    curvature.push_back(weight * weight * loss_curvature(objective.loss, objective.loss_scale, r));
    pull.push_back(curvature[n] * curvature[n] * noise.variance(left.fitted[n]) * noise.correlated_count);
  }
  LeafMatrix total = leaf_products(objective, at, {curvature.data(), curvature.size()});
  for (std::size_t i = 0; i < kLeafParameters; ++i) {
    const LeafParameterRange& range = leaf_parameter_ranges()[i];
    const double strength = objective.prior_strength / range.prior_sd,
                 r = strength * (at[i] - range.prior_mean);
    total[i][i] += strength * strength * loss_curvature(objective.loss, objective.loss_scale, r);
  }
  const LeafMatrix inverse = inverse_over(total, objective.is_free);
  return product(product(inverse, leaf_products(objective, at, {pull.data(), pull.size()})), inverse);
}

void check_starts(std::uint32_t start_count) {
  require(start_count >= 1 && start_count <= 10'000, "the number of starts must be from 1 to 10000");
}

/// One window after another.
struct WindowStep {
  std::vector<std::pair<double, double>> windows_nm;  ///< first and last
  std::vector<std::size_t> free, kept;                ///< fitted together; kept for the result
};

std::vector<WindowStep> window_steps(LeafModelKind kind) {
  constexpr auto kCab = parameter_of(kChlorophyll), kCar = parameter_of(kCarotenoids),
                 kAnt = parameter_of(kAnthocyanins), kBrown = parameter_of(kBrownPigment),
                 kCw = parameter_of(kWater), kCm = parameter_of(kDryMatter), kProt = parameter_of(kProtein),
                 kCbc = parameter_of(kCarbonBased);
  const std::vector<WindowStep> pigments{
      {{{400, 800}}, {kCab, kCar, kAnt, kBrown}, {kAnt, kBrown}},
      {{{520, 560}}, {kCab, kCar, kAnt}, {kCar}},
      {{{700, 720}}, {kCab, kCar, kAnt}, {kCab}},
  };
  std::vector<WindowStep> steps;
  if (kind == LeafModelKind::kD) {
    steps.push_back({{{1700, 2400}}, {0, kCw, kCm}, {0, kCw, kCm}});
  } else {
    steps.push_back({{{1700, 2400}}, {0, kCw, kProt, kCbc}, {0, kCw, kProt, kCbc}});
    steps.push_back({{{2100, 2139}, {2160, 2179}}, {kCw, kProt, kCbc}, {kProt}});
    steps.push_back({{{1480, 1499},
                      {1560, 1579},
                      {1760, 1799},
                      {2040, 2059},
                      {2120, 2139},
                      {2160, 2239},
                      {2260, 2279},
                      {2340, 2359},
                      {2380, 2399}},
                     {kCw, kProt, kCbc},
                     {kCbc}});
  }
  steps.insert(steps.end(), pigments.begin(), pigments.end());
  return steps;
}

}  // namespace

LeafEstimate full_inversion(const ProspectModel& model, const LeafMeasurement& spectrum, LeafModelKind kind,
                            const FullInversionParams& params, bool calibrate, std::uint32_t start_count,
                            OpContext& ctx) {
  check_full(params);
  check_starts(start_count);
  constexpr double kPriorStrength = 0.1;
  const LeafObjective objective{model,
                                spectrum.index,
                                spectrum.reflectance,
                                full_weights(spectrum, params.weights),
                                kPriorStrength,
                                fitted_parameters(kind, calibrate),
                                params.loss,
                                params.loss_scale};
  LeafObjective visible = cut_to(objective, kVisibleEnd_nm);
  for (const Constituent unseen : {kWater, kDryMatter, kProtein, kCarbonBased})
    visible.is_free[parameter_of(unseen)] = false;
  const bool visible_first = params.visible_first && !visible.index.empty();
  ctx.begin_phase("Inverting the spectrum", start_count);
  const LeafSolution best = best_of(start_count, ctx, [&](std::size_t number) {
    LeafParameters start = start_of(number, objective.is_free);
    if (visible_first) {
      for (const Constituent unseen : {kWater, kDryMatter, kProtein, kCarbonBased}) {
        const std::size_t i = parameter_of(unseen);
        if (objective.is_free[i]) start[i] = leaf_parameter_ranges()[i].prior_mean;
      }
      start = solve_leaf(visible, start, kFirstEvaluations, ctx).parameters;
    }
    return solve_leaf(objective, start, kEvaluations, ctx);
  });
  LeafEstimate out = estimate_of(model, spectrum, objective.is_free, best.parameters);
  const Residuals left = residuals_of(objective, best.parameters);
  const LeafNoise noise = noise_of(left, objective.is_free);
  const LeafMatrix covariance = sandwich(objective, best.parameters, left, noise);
  for (std::size_t i = 0; i < kLeafParameters; ++i)
    if (out.is_fitted[i]) set_error(out, covariance, i, false);
  out.correlated_count = noise.correlated_count;
  out.converged = best.converged;
  return out;
}

LeafEstimate likelihood_inversion(const ProspectModel& model, const LeafMeasurement& spectrum,
                                  LeafModelKind kind, bool calibrate, std::uint32_t start_count,
                                  OpContext& ctx) {
  check_starts(start_count);
  const Mask is_fitted = fitted_parameters(kind, calibrate);
  ctx.begin_phase("Weighing the spectrum by its noise", start_count);
  const Posterior end = posterior(
      {model, spectrum.index, spectrum.reflectance, {}, 1, is_fitted, Loss::kLinear, 1}, start_count,
      [&](std::size_t number) { return start_of(number, is_fitted); }, ctx);
  LeafEstimate out = estimate_of(model, spectrum, is_fitted, end.value);
  for (std::size_t i = 0; i < kLeafParameters; ++i)
    if (is_fitted[i]) set_error(out, end.covariance, i, true);
  out.correlated_count = end.noise.correlated_count;
  out.converged = end.converged;
  return out;
}

LeafEstimate windowed_inversion(const ProspectModel& model, const LeafMeasurement& spectrum,
                                LeafModelKind kind, std::uint32_t start_count, OpContext& ctx) {
  check_starts(start_count);
  constexpr std::size_t kFewest = 5;
  const Mask is_fitted = fitted_parameters(kind, false);
  const std::vector<WindowStep> steps = window_steps(kind);
  LeafParameters value = start_of(0, is_fitted);
  std::vector<std::pair<std::size_t, LeafMatrix>> covariances;
  bool converged = true;
  ctx.begin_phase("Inverting windows", steps.size() - 1 + start_count);
  for (const WindowStep& step : steps) {
    LeafObjective objective{model, {}, {}, {}, 1, {}, Loss::kLinear, 1};
    for (std::size_t n = 0; n < spectrum.index.size(); ++n) {
      const double nm = nm_of(spectrum.index[n]);
      if (std::none_of(step.windows_nm.begin(), step.windows_nm.end(),
                       [nm](const auto& window) { return nm >= window.first && nm <= window.second; }))
        continue;
      objective.index.push_back(spectrum.index[n]);
      objective.measured.push_back(spectrum.reflectance[n]);
    }
    require(objective.index.size() >= kFewest,
            "the windowed inversion needs wavelengths in each window: 400-800, 520-560, 700-720 and "
            "1700-2400 nm");
    for (const std::size_t i : step.free) objective.is_free[i] = true;
    const std::uint32_t starts = step.free.front() == 0 ? start_count : 1;  // only N trades against contents
    const Posterior end = posterior(
        objective, starts,
        [&](std::size_t number) {
          LeafParameters start = value, fresh = start_of(number, is_fitted);
          for (const std::size_t i : step.free) start[i] = fresh[i];
          return start;
        },
        ctx);
    converged = converged && end.converged;
    for (const std::size_t i : step.kept) {
      value[i] = end.value[i];
      covariances.emplace_back(i, end.covariance);
    }
  }
  LeafEstimate out = estimate_of(model, spectrum, is_fitted, value);
  for (const auto& [i, covariance] : covariances) set_error(out, covariance, i, true);
  out.converged = converged;
  return out;
}

LeafFit invert_leaf(const ProspectModel& model, const LeafMeasurement& spectrum, const LeafFitParams& params,
                    OpContext& ctx) {
  switch (params.inversion) {
    case LeafInversion::kWindowed:
      require(!params.calibrate, "the windowed inversion has no calibration");
      return {windowed_inversion(model, spectrum, params.kind, params.start_count, ctx), std::nullopt};
    case LeafInversion::kLikelihood:
      return {likelihood_inversion(model, spectrum, params.kind, params.calibrate, params.start_count, ctx),
              std::nullopt};
    case LeafInversion::kFull:
      break;
  }
  LeafFit fit{
      full_inversion(model, spectrum, params.kind, params.full, params.calibrate, params.start_count, ctx),
      std::nullopt};
  fit.likelihood = likelihood_inversion(model, spectrum, params.kind, false, params.start_count, ctx);
  return fit;
}

}  // namespace pc
