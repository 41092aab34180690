#include "ops/fit/curve_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "ops/fit/student_t.h"

namespace pc {
namespace {

using Op = ExpressionOp;

std::uint32_t code(Op op, std::uint32_t argument = 0) {
  return static_cast<std::uint32_t>(op) + 256 * argument;
}
std::uint32_t symbol(std::uint32_t index) { return code(Op::kSymbol, index); }

CurveFitParams params_of(const std::vector<double>& start) {
  const std::size_t n = start.size();
  return {.start = start,
          .low = std::vector<double>(n, -1e10),
          .high = std::vector<double>(n, 1e10),
          .linear = std::vector<std::uint8_t>(n, 0),
          .loss = Loss::kLinear,
          .loss_scale = 1,
          .max_evaluations = 10'000,
          .more_starts = MoreStarts::kOnFailure,
          .confidence_level = 0.95,
          .profile = false};
}

CurveFit fit(const CurveModel& model, const CurveData& data, const CurveFitParams& params) {
  JobControl control;
  OpContext ctx(control);
  return fit_curve(model, data, params, ctx);
}

/// Two uniform numbers per value: about normal enough for a test of sizes.
double noise(std::uint64_t row) { return random_unit(9, 2 * row) + random_unit(9, 2 * row + 1) - 1; }

/// a exp(-b x), parameters a and b, input x
const CurveModel kDecay{{{symbol(0), symbol(1), symbol(2), code(Op::kMultiply), code(Op::kNegative),
                          code(Op::kExp), code(Op::kMultiply)},
                         {},
                         3},
                        2,
                        false};

CurveData decay_data() {
  CurveData data{{{}}, {}};
  for (std::uint64_t i = 0; i < 30; ++i) {
    data.inputs[0].push_back(0.2 * static_cast<double>(i));
    data.measured.push_back(4 * std::exp(-0.7 * data.inputs[0].back()) + 0.05 * noise(i));
  }
  return data;
}

TEST(StudentT, QuantilesOfTables) {
  EXPECT_NEAR(student_t_quantile(0.975, 1), 12.706204736174694, 1e-8);  // tan(0.475 pi)
  EXPECT_NEAR(student_t_quantile(0.975, 2), 4.302652729749464, 1e-9);   // closed form for 2
  EXPECT_NEAR(student_t_quantile(0.975, 10), 2.228138851986273, 1e-9);
  EXPECT_NEAR(student_t_quantile(0.995, 28), 2.763262455461066, 1e-9);
  EXPECT_NEAR(student_t_quantile(0.975, 1e6), 1.959966, 1e-5);
  EXPECT_NEAR(student_t_quantile(0.025, 10), -2.228138851986273, 1e-9);
  EXPECT_EQ(student_t_probability(0, 5), 0.5);
  EXPECT_NEAR(student_t_probability(1, 1), 0.75, 1e-14);
  EXPECT_NEAR(student_t_probability(-1, 1), 0.25, 1e-14);
}

TEST(CurveFit, DecayWithIntervals) {
  const CurveFit found = fit(kDecay, decay_data(), params_of({1, 1}));
  EXPECT_EQ(found.end, FitEnd::kConverged);
  EXPECT_EQ(found.start_count, 1u);
  EXPECT_EQ(found.degrees, 28);
  EXPECT_NEAR(found.values[0], 4, 0.05);
  EXPECT_NEAR(found.values[1], 0.7, 0.02);
  const double t = student_t_quantile(0.975, 28);
  for (const std::size_t j : {0, 1}) {
    EXPECT_NEAR(found.high[j] - found.values[j], t * found.std_errors[j], 1e-14);
    EXPECT_NEAR(found.values[j] - found.low[j], t * found.std_errors[j], 1e-14);
  }
  EXPECT_TRUE(found.profile_low.empty());
}

TEST(CurveFit, ErrorsOfTheFittedValuesOfALine) {
  const CurveModel line{
      {{symbol(0), symbol(2), code(Op::kMultiply), symbol(1), code(Op::kAdd)}, {}, 3}, 2, false};
  const CurveFit found = fit(line, {{{0, 1, 2, 3, 4}}, {1.1, 2.9, 5.2, 6.8, 9.1}}, params_of({0, 0}));
  for (std::size_t i = 0; i < 5; ++i) {
    const double from_mean = static_cast<double>(i) - 2;
    EXPECT_NEAR(found.fitted_std_errors[i], std::sqrt(found.variance * (0.2 + from_mean * from_mean / 10)),
                1e-13);
  }
}

TEST(CurveFit, ProfileLimitsRaiseTheResidualSumByTSquaredVariances) {
  CurveFitParams params = params_of({1, 1});
  params.profile = true;
  const CurveData data = decay_data();
  const CurveFit found = fit(kDecay, data, params);
  const double t = student_t_quantile(0.975, 28);
  for (const double limit : {found.profile_low[1], found.profile_high[1]}) {
    EXPECT_NEAR(std::abs(limit - found.values[1]), t * found.std_errors[1], 0.2 * t * found.std_errors[1]);
    double ay = 0, aa = 0, rest = 0;  // with b held, a follows from the normal equation
    for (std::size_t i = 0; i < 30; ++i) {
      const double e = std::exp(-limit * data.inputs[0][i]);
      ay += e * data.measured[i];
      aa += e * e;
    }
    for (std::size_t i = 0; i < 30; ++i) {
      const double r = ay / aa * std::exp(-limit * data.inputs[0][i]) - data.measured[i];
      rest += r * r;
    }
    EXPECT_NEAR((rest - found.cost) / found.variance, t * t, 1e-5 * t * t);
  }
  params.loss = Loss::kHuber;
  EXPECT_THROW(fit(kDecay, data, params), Error);
}

TEST(CurveFit, AProfileThatNeverRisesEndsAtTheBoundOrIsOpen) {
  // a / (1 + b x) with x so small that b barely shows
  const CurveModel model{{{symbol(0), code(Op::kConstant), symbol(1), symbol(2), code(Op::kMultiply),
                           code(Op::kAdd), code(Op::kDivide)},
                          {1},
                          3},
                         2,
                         false};
  CurveData data{{{0, 0.1, 0.2, 0.3}}, {1.02, 0.98, 1.01, 0.97}};
  CurveFitParams params = params_of({1, 0.1});
  params.low[1] = 0;
  params.high[1] = 0.3;
  params.profile = true;
  const CurveFit found = fit(model, data, params);
  EXPECT_EQ(found.profile_low[1], 0);
  EXPECT_EQ(found.profile_high[1], 0.3);
}

TEST(CurveFit, ImplicitCircleIsThatOfItsExplicitHalf) {
  // (x - a)^2 + y^2 - r^2 = 0; parameters a, r, output y, input x
  const CurveModel implicit{
      {{symbol(3), symbol(0), code(Op::kSubtract), code(Op::kConstant), code(Op::kPower), symbol(2),
        code(Op::kConstant), code(Op::kPower), code(Op::kAdd), symbol(1), code(Op::kConstant),
        code(Op::kPower), code(Op::kSubtract)},
       {2},
       4},
      2,
      true};
  // sqrt(r^2 - (x - a)^2)
  const CurveModel upper{
      {{symbol(1), code(Op::kConstant), code(Op::kPower), symbol(2), symbol(0), code(Op::kSubtract),
        code(Op::kConstant), code(Op::kPower), code(Op::kSubtract), code(Op::kSqrt)},
       {2},
       3},
      2,
      false};
  CurveData data{{{}}, {}};
  for (std::uint64_t i = 0; i < 100; ++i) {  // more than a block
    data.inputs[0].push_back(-2 + 0.04 * static_cast<double>(i));
    data.measured.push_back(std::sqrt(16 - std::pow(data.inputs[0].back() - 0.5, 2)) + 0.02 * noise(i));
  }
  const CurveFit one = fit(implicit, data, params_of({0, 6}));
  const CurveFit other = fit(upper, data, params_of({0, 6}));
  EXPECT_EQ(one.end, FitEnd::kConverged);
  for (const std::size_t j : {0, 1}) {
    EXPECT_NEAR(one.values[j], other.values[j], 1e-10);
    EXPECT_NEAR(one.std_errors[j], other.std_errors[j], 1e-10);
  }
  EXPECT_NEAR(one.cost, other.cost, 1e-12);
  EXPECT_NEAR(one.values[1], 4, 0.01);
}

TEST(CurveFit, ImplicitRootsAreFoundFromFarAway) {
  // y + exp(y) - k x = 0, y measured far from the root
  const CurveModel model{{{symbol(1), symbol(1), code(Op::kExp), code(Op::kAdd), symbol(0), symbol(2),
                           code(Op::kMultiply), code(Op::kSubtract)},
                          {},
                          3},
                         1,
                         true};
  CurveData data{{{1, 2, 3, 4}}, {300, -40, 0, 5}};
  const CurveFit found = fit(model, data, params_of({2}));
  for (std::size_t i = 0; i < 4; ++i) {
    const double wanted = found.values[0] * data.inputs[0][i];
    EXPECT_NEAR(found.fitted[i] + std::exp(found.fitted[i]), wanted, 1e-13 * std::max(1.0, wanted));
  }
}

TEST(CurveFit, WithoutParametersTheCurveIsEvaluated) {
  const CurveModel model{{{symbol(0), code(Op::kSqrt)}, {}, 1}, 0, false};
  const CurveFit found = fit(model, {{{4, 9}}, {2, 4}}, params_of({}));
  EXPECT_EQ(found.fitted, (std::vector<double>{2, 3}));
  EXPECT_EQ(found.cost, 1);
  EXPECT_EQ(found.end, FitEnd::kConverged);
  EXPECT_THROW(fit(model, {{{-4, 9}}, {2, 4}}, params_of({})), Error);
}

TEST(CurveFit, WrongDataAreRefused) {
  const CurveFitParams params = params_of({1, 1});
  EXPECT_THROW(fit(kDecay, {{{}}, {}}, params), Error);
  EXPECT_THROW(fit(kDecay, {{{1, 2}}, {1, 2, 3}}, params), Error);
  EXPECT_THROW(fit(kDecay, {{}, {1, 2, 3}}, params), Error);
  EXPECT_THROW(fit(kDecay, {{{1, NAN, 3}}, {1, 2, 3}}, params), Error);
  EXPECT_THROW(fit(kDecay, {{{1, 2, 3}}, {1, HUGE_VAL, 3}}, params), Error);
  EXPECT_THROW(fit(kDecay, {{{1, 2, 3}}, {1, 2, 3}}, params_of({1})), Error);
}

TEST(CurveFit, AsManyRowsAsParametersHaveNoErrors) {
  const CurveFit found = fit(kDecay, {{{0, 1}}, {4, 2}}, params_of({1, 1}));
  EXPECT_NEAR(found.values[0], 4, 1e-12);
  EXPECT_NEAR(found.values[1], std::log(2), 1e-12);
  EXPECT_EQ(found.end, FitEnd::kConverged);
  EXPECT_TRUE(found.fitted_std_errors.empty());
  EXPECT_TRUE(std::isnan(found.variance) && std::isnan(found.std_errors[0]) && std::isnan(found.low[0]));
}

TEST(CurveFit, OffsetsOfTenMillionAndConstantData) {
  // a (x - c) + b with x at 1e7: c is lost, but a line is found
  const CurveModel line{
      {{symbol(0), symbol(2), code(Op::kMultiply), symbol(1), code(Op::kAdd)}, {}, 3}, 2, false};
  CurveData data{{{}}, {}};
  for (std::uint64_t i = 0; i < 20; ++i) {
    data.inputs[0].push_back(1e7 + static_cast<double>(i));
    data.measured.push_back(3 * static_cast<double>(i));
  }
  const CurveFit found = fit(line, data, params_of({0, 0}));
  EXPECT_NEAR(found.values[0], 3, 1e-6);
  EXPECT_EQ(found.end, FitEnd::kConverged);
  const CurveFit flat = fit(line, {{{1, 2, 3, 4}}, {5, 5, 5, 5}}, params_of({1, 1}));
  EXPECT_NEAR(flat.values[0], 0, 1e-12);
  EXPECT_NEAR(flat.values[1], 5, 1e-12);
  EXPECT_EQ(flat.end, FitEnd::kConverged);
}

TEST(CurveFit, NoFurtherStartsWhereOthersAreBetterByRoundingAlone) {
  const CurveModel line{
      {{symbol(0), symbol(2), code(Op::kMultiply), symbol(1), code(Op::kAdd)}, {}, 3}, 2, false};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CurveData data{{{}}, {}};
    for (std::uint64_t i = 0; i < 20; ++i) {
      data.inputs[0].push_back(0.3 * static_cast<double>(i));
      data.measured.push_back((i > 9 ? 3 : 1) + random_unit(seed, i));
    }
    CurveFitParams params = params_of({0, 1});
    params.linear = {1, 1};
    EXPECT_EQ(fit(line, data, params).start_count, 1u) << seed;
  }
}

}  // namespace
}  // namespace pc
