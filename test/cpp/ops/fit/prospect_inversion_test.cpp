#include "ops/fit/prospect_inversion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/error.h"
#include "ops/fit/leaf_noise.h"
#include "support/leaves.h"

namespace pc {
namespace {

using test::leaf_of;
using test::measured_leaf;

constexpr FullInversionParams kDefaults{{6, 380, 750, 550, 705, 410, 20, 2, 2}, Loss::kSoftL1, 0.08, true};

template <class Run>
auto in_context(int threads, const Run& run) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return run(ctx);
}

LeafEstimate likelihood(const LeafMeasurement& spectrum, LeafModelKind kind, bool calibrate = false) {
  return in_context(2, [&](OpContext& ctx) {
    return likelihood_inversion(prospect_model(), spectrum, kind, calibrate, 3, ctx);
  });
}
LeafEstimate full(const LeafMeasurement& spectrum, const FullInversionParams& params, bool calibrate,
                  LeafModelKind kind = LeafModelKind::kD, int threads = 2) {
  return in_context(threads, [&](OpContext& ctx) {
    return full_inversion(prospect_model(), spectrum, kind, params, calibrate, 3, ctx);
  });
}

constexpr LeafModelKind kKinds[] = {LeafModelKind::kD, LeafModelKind::kPro};

TEST(ProspectInversion, ASpectrumWithoutNoiseGivesItsLeaf) {
  for (const LeafModelKind kind : kKinds)
    for (std::uint64_t number = 0; number < 4; ++number) {
      const LeafParameters leaf = leaf_of(kind, number);
      const LeafEstimate got = likelihood(measured_leaf(leaf, 0, 1), kind);
      EXPECT_TRUE(got.converged);
      for (std::size_t i = 0; i < kLeafParameters; ++i)
        EXPECT_NEAR(got.value[i], leaf[i], 1e-3 * leaf_parameter_ranges()[i].prior_sd)
            << i << " of " << number;
    }
}

/// Over many leaves the errors have the size that the standard errors say.
TEST(ProspectInversion, StandardErrorsOfTheLikelihood) {
  for (const LeafModelKind kind : kKinds) {
    LeafParameters squares{};
    std::array<int, kLeafParameters> covered{};
    constexpr int kLeaves = 40;
    std::array<bool, kLeafParameters> fitted{};
    for (std::uint64_t number = 1; number <= kLeaves; ++number) {
      const LeafParameters leaf = leaf_of(kind, number);
      const LeafEstimate got = likelihood(measured_leaf(leaf, 0.005, number), kind);
      fitted = got.is_fitted;
      EXPECT_NEAR(got.noise_sd, 0.005, 4e-4);
      for (std::size_t i = 0; i < kLeafParameters; ++i) {
        const double z = (got.value[i] - leaf[i]) / got.standard_error[i];
        squares[i] += fitted[i] ? z * z / kLeaves : 1.0 / kLeaves;
        covered[i] += !fitted[i] || std::abs(z) < 1.96 ? 1 : 0;
      }
    }
    for (std::size_t i = 0; i < kLeafParameters; ++i) {
      EXPECT_TRUE(squares[i] > 0.5 && squares[i] < 1.8) << i << ": " << squares[i];
      EXPECT_GE(covered[i], 34) << i;
    }
  }
}

/// The cost of the contract, written out: 0.5 * 0.08^2 * sum of soft_l1 over data and prior.
double contract_cost(const LeafMeasurement& spectrum, const LeafParameters& at, bool calibrate) {
  const auto soft = [](double r) { return 2 * (std::sqrt(1 + r * r / 0.0064) - 1); };
  double sum = 0;
  for (std::size_t n = 0; n < spectrum.index.size(); ++n) {
    const double nm = 400.0 + spectrum.index[n];
    const auto bell = [nm](double center) { return std::exp(-(nm - center) * (nm - center) / 800); };
    const double weight = (nm >= 380 && nm <= 750 ? 6 : 1) + 2 * (bell(550) + bell(705)) + 2 * bell(410);
    sum += soft(weight * (leaf_row(prospect_model(), spectrum.index[n], at).value - spectrum.reflectance[n]));
  }
  for (std::size_t i = 0; i < kLeafParameters; ++i) {
    const bool counts = i == parameter_of(kProtein) || i == parameter_of(kCarbonBased) ? false
                        : i < kCalibrationScale                                        ? true
                                                                                       : calibrate;
    const LeafParameterRange& range = leaf_parameter_ranges()[i];
    if (counts) sum += soft(0.1 * (at[i] - range.prior_mean) / range.prior_sd);
  }
  return 0.5 * 0.0064 * sum;
}

TEST(ProspectInversion, FullReachesTheLowestCostOfTheContract) {
  for (const bool calibrate : {true, false})
    for (std::uint64_t number = 0; number < 4; ++number) {
      const LeafMeasurement spectrum = measured_leaf(leaf_of(LeafModelKind::kD, number), 0.005, 3);
      const LeafEstimate got = full(spectrum, kDefaults, calibrate);
      EXPECT_TRUE(got.converged);
      const double cost = contract_cost(spectrum, got.value, calibrate);
      for (std::size_t i = 0; i < kLeafParameters; ++i) {
        const LeafParameterRange& range = leaf_parameter_ranges()[i];
        for (const double step : {-1e-2, -1e-4, 1e-4, 1e-2}) {
          LeafParameters beside = got.value;
          beside[i] += step * (range.upper - range.lower);
          if (!got.is_fitted[i] || beside[i] < range.lower || beside[i] > range.upper) continue;
          EXPECT_GE(contract_cost(spectrum, beside, calibrate), cost * (1 - 1e-12)) << i << " " << step;
        }
      }
    }
}

TEST(ProspectInversion, RobustLossesIgnoreABandThatIsWrong) {
  const LeafParameters leaf = leaf_of(LeafModelKind::kD, 0);
  LeafMeasurement spectrum = measured_leaf(leaf, 0.001, 5);
  for (std::size_t i = 950; i < 1050; ++i) spectrum.reflectance[i] = 0.9;  // 1350 to 1450 nm
  FullInversionParams params = kDefaults;
  params.loss_scale = 0.01;
  params.loss = Loss::kLinear;
  const auto error = [&](const LeafEstimate& of) { return std::abs(of.value[0] - leaf[0]); };
  const double plain = error(full(spectrum, params, false));
  for (const Loss loss : {Loss::kSoftL1, Loss::kHuber, Loss::kCauchy, Loss::kArctan}) {
    params.loss = loss;
    const LeafEstimate got = full(spectrum, params, false);
    EXPECT_TRUE(got.converged) << static_cast<int>(loss);
    EXPECT_LT(error(got), plain / 2) << static_cast<int>(loss);
  }
}

TEST(ProspectInversion, WindowsFindTheirTraits) {
  for (const LeafModelKind kind : kKinds) {
    const LeafParameters leaf = leaf_of(kind, 0);
    const LeafEstimate got = in_context(2, [&](OpContext& ctx) {
      return windowed_inversion(prospect_model(), measured_leaf(leaf, 1e-4, 9), kind, 2, ctx);
    });
    EXPECT_TRUE(got.converged);
    for (std::size_t i = 0; i < 1 + kConstituents; ++i) {
      const double sd = leaf_parameter_ranges()[i].prior_sd;
      EXPECT_NEAR(got.value[i], leaf[i], 0.15 * sd) << i;
      EXPECT_EQ(std::isnan(got.standard_error[i]), !got.is_fitted[i]) << i;
    }
  }
}

TEST(ProspectInversion, TheSameBitsForAnyNumberOfThreads) {
  const LeafMeasurement spectrum = measured_leaf(leaf_of(LeafModelKind::kPro, 2), 0.005, 8);
  const LeafEstimate one = full(spectrum, kDefaults, true, LeafModelKind::kPro, 1);
  const LeafEstimate four = full(spectrum, kDefaults, true, LeafModelKind::kPro, 4);
  EXPECT_EQ(one.value, four.value);
  EXPECT_EQ(one.fitted, four.fitted);
}

TEST(ProspectInversion, LeavesAtTheBounds) {
  for (const double layers : {1.0, 3.0})
    for (const double content : {0.0, 1.0}) {
      LeafParameters leaf{layers};
      for (std::size_t c = 0; c < kConstituents; ++c)
        leaf[1 + c] = content * (c < kProtein ? leaf_parameter_ranges()[1 + c].upper : 0);
      leaf[kCalibrationScale] = 1;
      const LeafEstimate got = likelihood(measured_leaf(leaf, 0.005, 4), LeafModelKind::kD);
      EXPECT_TRUE(got.converged) << layers << " " << content;
      for (std::size_t i = 0; i < kLeafParameters; ++i) {
        const LeafParameterRange& range = leaf_parameter_ranges()[i];
        if (!got.is_fitted[i]) continue;
        EXPECT_TRUE(got.value[i] >= range.lower && got.value[i] <= range.upper) << i;
        EXPECT_TRUE(got.standard_error[i] > 0 && got.standard_error[i] <= range.prior_sd * 1.0001) << i;
      }
    }
}

TEST(ProspectInversion, SpectraThatNoLeafHas) {
  for (const double level : {0.0, 0.5, 1.0, -0.1, 1.2}) {
    LeafMeasurement flat = measured_leaf(leaf_of(LeafModelKind::kD, 0), 0, 1);
    flat.reflectance.assign(flat.reflectance.size(), level);
    for (const LeafEstimate& got : {likelihood(flat, LeafModelKind::kD, true), full(flat, kDefaults, true)})
      for (std::size_t i = 0; i < kLeafParameters; ++i)
        EXPECT_EQ(std::isfinite(got.value[i]) && (!got.is_fitted[i] || std::isfinite(got.standard_error[i])),
                  true)
            << i;
  }
}

TEST(ProspectInversion, AWholePriorAndNoWeightsLeaveThePriorMeans) {
  FullInversionParams params = kDefaults;
  params.weights.visible = params.weights.feature = params.weights.violet = 0;
  params.weights.visible_min_nm = 0;
  params.weights.visible_max_nm = 5000;
  const LeafEstimate got = full(measured_leaf(leaf_of(LeafModelKind::kD, 3), 0.005, 2), params, false);
  for (std::size_t i = 0; i < kLeafParameters; ++i)
    if (got.is_fitted[i]) {
      EXPECT_NEAR(got.value[i], leaf_parameter_ranges()[i].prior_mean, 1e-6) << i;
    }
}

TEST(ProspectInversion, CanceledBeforeTheNextEvaluation) {
  JobControl control;
  OpContext ctx(control);
  control.cancel_requested = true;
  const LeafMeasurement spectrum = measured_leaf(leaf_of(LeafModelKind::kD, 0), 0.005, 1);
  for (const LeafInversion inversion :
       {LeafInversion::kFull, LeafInversion::kLikelihood, LeafInversion::kWindowed}) {
    try {
      invert_leaf(prospect_model(), spectrum, {inversion, LeafModelKind::kD, false, 3, kDefaults}, ctx);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCanceled);
    }
  }
}

TEST(ProspectInversion, RefusesWhatItCannotUse) {
  const LeafMeasurement spectrum = measured_leaf(leaf_of(LeafModelKind::kD, 0), 0.005, 1);
  const auto refused = [&](auto change) {
    LeafFitParams params{LeafInversion::kFull, LeafModelKind::kD, false, 3, kDefaults};
    change(params);
    EXPECT_THROW(
        in_context(1, [&](OpContext& ctx) { return invert_leaf(prospect_model(), spectrum, params, ctx); }),
        Error);
  };
  refused([](LeafFitParams& p) { p.start_count = 0; });
  refused([](LeafFitParams& p) { p.full.loss_scale = 0; });
  refused([](LeafFitParams& p) { p.full.loss_scale = std::nan(""); });
  refused([](LeafFitParams& p) { p.full.weights.visible = -1; });
  refused([](LeafFitParams& p) { p.full.weights.window_sigma_nm = 0; });
  refused([](LeafFitParams& p) { p.full.weights.green_nm = HUGE_VAL; });
  refused([](LeafFitParams& p) {
    p.inversion = LeafInversion::kWindowed;
    p.calibrate = true;
  });
}

std::string refusal(const std::vector<double>& nm, const std::vector<double>& reflectance) {
  try {
    leaf_measurement({nm.data(), nm.size()}, {reflectance.data(), reflectance.size()});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(LeafMeasurement, InterpolatesInAnyOrder) {
  std::vector<double> nm, reflectance;
  for (int i = 0; i < 12; ++i) {  // 395, 405.5, ..: descending
    nm.push_back(395 + 10.5 * (11 - i));
    reflectance.push_back(nm.back() / 1000);
  }
  const LeafMeasurement got =
      leaf_measurement({nm.data(), nm.size()}, {reflectance.data(), reflectance.size()});
  ASSERT_EQ(got.index.size(), 111U);  // 400 to 510
  for (std::size_t i = 0; i < got.index.size(); ++i) {
    EXPECT_EQ(got.index[i], i);
    EXPECT_NEAR(got.reflectance[i], 0.400 + 0.001 * static_cast<double>(i), 1e-12);
  }
}

TEST(LeafMeasurement, RefusalsNameThePlace) {
  std::vector<double> nm(30), reflectance(30, 0.3);
  for (std::size_t i = 0; i < nm.size(); ++i) nm[i] = 500 + static_cast<double>(i);
  EXPECT_EQ(refusal(nm, reflectance), "");
  EXPECT_NE(refusal(nm, std::vector<double>(29, 0.3)).find("30 values, reflectance 29"), std::string::npos);
  EXPECT_NE(refusal({}, {}).find("0 values over 0 nm"), std::string::npos);
  EXPECT_NE(refusal({500, 2000}, {0.1, 0.1}).find("2 values over 1501 nm"), std::string::npos);
  auto bad = nm;
  bad[4] = 503;
  EXPECT_NE(refusal(bad, reflectance).find("503 nm more than once"), std::string::npos);
  bad[4] = std::nan("");
  EXPECT_NE(refusal(bad, reflectance).find("wavelengths[4] is not a finite number"), std::string::npos);
  auto percent = reflectance;
  percent[7] = 30;
  EXPECT_NE(refusal(nm, percent).find("reflectance[7] is 30, outside -0.1..1.2"), std::string::npos);
  for (double& at : bad) at = 3000;
  for (std::size_t i = 0; i < bad.size(); ++i) bad[i] = 2600 + static_cast<double>(i);
  EXPECT_NE(refusal(bad, reflectance).find("0 values over 0 nm"), std::string::npos);
}

TEST(LeafNoise, PartsOfTheVariance) {
  const std::size_t n = 2000;
  std::vector<double> reflectance(n), residual(n), smooth(n);
  for (std::size_t i = 0; i < n; ++i) {
    reflectance[i] = 0.05 + 0.5 * random_unit(1, i);
    const double normal =
        std::sqrt(-2 * std::log(1 - random_unit(2, i))) * std::cos(6.283185307179586 * random_unit(3, i));
    residual[i] = normal * std::sqrt(1e-6 + 1e-4 * reflectance[i] * reflectance[i]);
    smooth[i] = (i > 0 ? 0.95 * smooth[i - 1] : 0) + normal * 1e-3;
  }
  const auto noise_of = [&](const std::vector<double>& of) {
    return leaf_noise({of.data(), n}, {reflectance.data(), n}, 0);
  };
  const LeafNoise independent = noise_of(residual);
  EXPECT_NEAR(independent.constant, 1e-6, 3e-7);
  EXPECT_NEAR(independent.relative, 1e-4, 1.2e-5);
  EXPECT_LT(independent.correlated_count, 1.2);
  EXPECT_NEAR(noise_of(smooth).correlated_count, 39, 14);  // (1 + 0.95) / (1 - 0.95)
  EXPECT_GT(noise_of(std::vector<double>(n, 0)).variance(0), 0);
}

}  // namespace
}  // namespace pc
