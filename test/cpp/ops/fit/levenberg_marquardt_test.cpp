#include "ops/fit/levenberg_marquardt.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "core/random.h"
#include "ops/fit/bounded_step.h"
#include "ops/fit/householder.h"
#include "ops/fit/multi_start.h"
#include "ops/fit/parameter_uncertainty.h"

namespace pc {
namespace {

constexpr double kInfinity = HUGE_VAL;

/// Residuals and derivatives of one row.
using Row = std::function<double(std::size_t row, const double* x, double* derivatives)>;

LeastSquaresProblem problem_of(std::size_t rows, std::size_t parameters, const Row& row) {
  return {rows, parameters, [=](Span<const double> x, Span<double> residuals, Span<double> jacobian) {
            std::vector<double> derivatives(parameters);
            for (std::size_t i = 0; i < rows; ++i) {
              residuals[i] = row(i, x.data, derivatives.data());
              for (std::size_t j = 0; j < parameters; ++j) jacobian[j * rows + i] = derivatives[j];
            }
            return true;
          }};
}

LeastSquaresParams params_of(std::size_t parameters) {
  return {std::vector<double>(parameters, -kInfinity), std::vector<double>(parameters, kInfinity),
          Loss::kLinear, 1, 10'000};
}

LeastSquaresFit fit(const LeastSquaresProblem& problem, const std::vector<double>& start,
                    const LeastSquaresParams& params) {
  JobControl control;
  OpContext ctx(control);
  return levenberg_marquardt(problem, {start.data(), start.size()}, params, ctx);
}

double uniform(std::uint64_t seed, std::uint64_t counter) { return 2 * random_unit(seed, counter) - 1; }

TEST(LevenbergMarquardt, AStraightLineIsThatOfTheNormalEquations) {
  const std::vector<double> y{1.1, 2.9, 5.2, 6.8, 9.1};  // x = 0 .. 4
  const auto problem = problem_of(5, 2, [&](std::size_t i, const double* p, double* d) {
    d[0] = static_cast<double>(i);
    d[1] = 1;
    return p[0] * d[0] + p[1] - y[i];
  });
  const LeastSquaresFit found = fit(problem, {0, 0}, params_of(2));
  EXPECT_EQ(found.end, FitEnd::kConverged);
  EXPECT_NEAR(found.x[0], 1.99, 1e-14);  // sum (x - 2)(y - 5.02) / 10
  EXPECT_NEAR(found.x[1], 1.04, 1e-14);
  const ParameterUncertainty errors = parameter_uncertainty(found, Loss::kLinear, 1);
  EXPECT_EQ(errors.degrees, 3);
  EXPECT_NEAR(errors.variance, found.cost / 3, 1e-16);
  EXPECT_NEAR(errors.std_errors[0], std::sqrt(errors.variance / 10), 1e-14);
  EXPECT_NEAR(errors.std_errors[1], std::sqrt(errors.variance * (1.0 / 5 + 4.0 / 10)), 1e-14);
  EXPECT_NEAR(errors.correlation[1], -2 / std::sqrt(6.0), 1e-13);  // -mean x / sqrt(mean of x^2)
}

TEST(LevenbergMarquardt, FindsTheMinimumOfRosenbrocksValleyToTheLastDigits) {
  const auto problem = problem_of(2, 2, [](std::size_t i, const double* p, double* d) {
    d[0] = i == 0 ? -20 * p[0] : -1;
    d[1] = i == 0 ? 10 : 0;
    return i == 0 ? 10 * (p[1] - p[0] * p[0]) : 1 - p[0];
  });
  const LeastSquaresFit found = fit(problem, {-1.2, 1}, params_of(2));
  EXPECT_EQ(found.end, FitEnd::kConverged);
  EXPECT_NEAR(found.x[0], 1, 1e-15);
  EXPECT_NEAR(found.x[1], 1, 1e-15);
}

TEST(LevenbergMarquardt, StopsAtBoundsAndSaysSo) {
  LeastSquaresParams params = params_of(2);
  params.high[0] = 0.5;  // the minimum of the valley on this line is at x^2
  const auto problem = problem_of(2, 2, [](std::size_t i, const double* p, double* d) {
    d[0] = i == 0 ? -20 * p[0] : -1;
    d[1] = i == 0 ? 10 : 0;
    return i == 0 ? 10 * (p[1] - p[0] * p[0]) : 1 - p[0];
  });
  const LeastSquaresFit found = fit(problem, {-1.2, 1}, params);
  EXPECT_EQ(found.end, FitEnd::kConverged);
  EXPECT_EQ(found.x[0], 0.5);
  EXPECT_NEAR(found.x[1], 0.25, 1e-14);
  EXPECT_EQ(found.at_bound, (std::vector<std::int8_t>{1, 0}));
}

TEST(LevenbergMarquardt, ReportsTheLimitOfEvaluationsAndAnUndefinedStart) {
  const auto problem = problem_of(2, 2, [](std::size_t i, const double* p, double* d) {
    d[0] = i == 0 ? -20 * p[0] : -1;
    d[1] = i == 0 ? 10 : 0;
    return i == 0 ? 10 * (p[1] - p[0] * p[0]) : 1 - p[0];
  });
  LeastSquaresParams params = params_of(2);
  params.max_evaluations = 5;
  const LeastSquaresFit found = fit(problem, {-1.2, 1}, params);
  EXPECT_EQ(found.end, FitEnd::kEvaluationLimit);
  EXPECT_EQ(found.evaluation_count, 5u);
  const auto root = problem_of(2, 1, [](std::size_t, const double* p, double* d) {
    d[0] = 0.5 / std::sqrt(p[0]);
    return std::sqrt(p[0]) - 2;
  });
  EXPECT_EQ(fit(root, {-1}, params_of(1)).end, FitEnd::kUndefined);
  EXPECT_NEAR(fit(root, {100}, params_of(1)).x[0], 4, 1e-14);  // full steps would leave the domain
}

TEST(LevenbergMarquardt, LostParametersHaveNoStandardError) {
  const auto problem = problem_of(6, 3, [](std::size_t i, const double* p, double* d) {
    const double t = static_cast<double>(i);
    d[0] = d[1] = t;  // only the sum of the first two counts
    d[2] = 1;
    return (p[0] + p[1]) * t + p[2] - (2 * t + 1 + 0.1 * uniform(3, i));
  });
  const LeastSquaresFit found = fit(problem, {1, 0.5, 0}, params_of(3));
  EXPECT_EQ(found.end, FitEnd::kConverged);
  EXPECT_EQ(determination(found).lost, (std::vector<std::uint8_t>{1, 1, 0}));
  const ParameterUncertainty errors = parameter_uncertainty(found, Loss::kLinear, 1);
  EXPECT_TRUE(std::isnan(errors.std_errors[0]) && std::isnan(errors.std_errors[1]));
  EXPECT_EQ(errors.degrees, 4);
  const auto plain = problem_of(6, 2, [](std::size_t i, const double* p, double* d) {
    const double t = static_cast<double>(i);
    d[0] = t;
    d[1] = 1;
    return p[0] * t + p[1] - (2 * t + 1 + 0.1 * uniform(3, i));
  });
  const ParameterUncertainty wanted =
      parameter_uncertainty(fit(plain, {1, 0}, params_of(2)), Loss::kLinear, 1);
  EXPECT_NEAR(errors.std_errors[2], wanted.std_errors[1], 1e-12);
}

TEST(LevenbergMarquardt, RobustLossesHaveAZeroGradientAtTheirEnd) {
  for (const Loss loss : {Loss::kSoftL1, Loss::kHuber, Loss::kCauchy, Loss::kArctan}) {
    const auto value = [](std::size_t i) {
      return 3 + 2 * static_cast<double>(i) + 0.3 * uniform(5, i) + (i == 4 ? 40 : 0);
    };
    const auto problem = problem_of(12, 2, [&](std::size_t i, const double* p, double* d) {
      d[0] = static_cast<double>(i);
      d[1] = 1;
      return p[0] * d[0] + p[1] - value(i);
    });
    LeastSquaresParams params = params_of(2);
    params.loss = loss;
    params.loss_scale = 0.5;
    const LeastSquaresFit found = fit(problem, {2.2, 2}, params);
    EXPECT_EQ(found.end, FitEnd::kConverged);
    EXPECT_NEAR(found.x[0], 2, 0.1) << static_cast<int>(loss);  // plain least squares: 1.7
    double by_slope = 0, by_start = 0;
    for (std::size_t i = 0; i < 12; ++i) {
      const double r = found.residuals[i], psi = loss_of(loss, r * r / 0.25).slope * r;
      by_slope += psi * static_cast<double>(i);
      by_start += psi;
    }
    EXPECT_NEAR(by_slope, 0, 1e-6);
    EXPECT_NEAR(by_start, 0, 1e-6);
  }
}

TEST(LevenbergMarquardt, RobustErrorsOfAMeanAreThoseOfHubersFormula) {
  // By symmetry the mean is 0. Two values of ten are beyond the scale: psi = 1, psi' = 0; the others psi = r, psi' = 1.
  const std::vector<double> y{-20, -0.4, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.4, 20};
  const auto problem = problem_of(10, 1, [&](std::size_t i, const double* p, double* d) {
    d[0] = 1;
    return p[0] - y[i];
  });
  LeastSquaresParams params = params_of(1);
  params.loss = Loss::kHuber;
  const LeastSquaresFit found = fit(problem, {0.05}, params);
  EXPECT_NEAR(found.x[0], 0, 1e-9);
  const ParameterUncertainty errors = parameter_uncertainty(found, Loss::kHuber, 1);
  const double k = 1 + 1.0 / 10 * (0.8 * 0.2) / (0.8 * 0.8);
  const double variance = k * k * (2 + 2 * (0.16 + 0.09 + 0.04 + 0.01)) / (10 - 1) / (0.8 * 0.8);
  EXPECT_EQ(errors.degrees, 9);
  EXPECT_NEAR(errors.variance, variance, 1e-9);
  EXPECT_NEAR(errors.std_errors[0], std::sqrt(variance / 10), 1e-9);
}

TEST(LevenbergMarquardt, RobustErrorsAtAHugeScaleAreThePlainOnes) {
  const auto problem = problem_of(6, 2, [](std::size_t i, const double* p, double* d) {
    d[0] = static_cast<double>(i);
    d[1] = 1;
    return p[0] * d[0] + p[1] - (2 * d[0] + 1 + 0.1 * uniform(3, i));
  });
  const LeastSquaresFit found = fit(problem, {1, 0}, params_of(2));
  const ParameterUncertainty plain = parameter_uncertainty(found, Loss::kLinear, 1);
  for (const Loss loss : {Loss::kSoftL1, Loss::kHuber, Loss::kCauchy, Loss::kArctan}) {
    const ParameterUncertainty errors = parameter_uncertainty(found, loss, 1e7);
    EXPECT_NEAR(errors.variance / plain.variance, 1, 1e-12) << static_cast<int>(loss);
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_NEAR(errors.std_errors[j] / plain.std_errors[j], 1, 1e-12) << static_cast<int>(loss);
  }
}

TEST(LevenbergMarquardt, LossesHaveTheDerivativesTheySay) {
  for (const Loss loss : {Loss::kLinear, Loss::kSoftL1, Loss::kHuber, Loss::kCauchy, Loss::kArctan}) {
    for (const double z : {0.0, 0.3, 0.9, 1.7, 30.0}) {
      const double h = 1e-6;
      const LossValue at = loss_of(loss, z), up = loss_of(loss, z + h), down = loss_of(loss, z - h);
      EXPECT_NEAR(at.slope, (up.rho - down.rho) / (2 * h), 1e-8);
      EXPECT_NEAR(at.curvature, (up.slope - down.slope) / (2 * h), 1e-8);
    }
  }
}

TEST(LevenbergMarquardt, CancelAndWrongSizes) {
  const auto problem = problem_of(1, 1, [](std::size_t, const double* p, double* d) {
    d[0] = 1;
    return p[0];
  });
  JobControl control;
  control.cancel_requested = true;
  OpContext ctx(control);
  const double start = 1;
  EXPECT_THROW(levenberg_marquardt(problem, {&start, 1}, params_of(1), ctx), Error);
  EXPECT_THROW(fit(problem, {1, 2}, params_of(1)), Error);
  LeastSquaresParams crossed = params_of(1);
  crossed.low[0] = 2;
  crossed.high[0] = 1;
  EXPECT_THROW(fit(problem, {1}, crossed), Error);
}

/// The bounded step by trying every set of held variables.
double brute_force(const std::vector<double>& triangle, const std::vector<double>& c,
                   const std::vector<double>& low, const std::vector<double>& high, double damping) {
  const std::size_t n = c.size();
  double best = kInfinity;
  std::size_t sets = 1;
  for (std::size_t j = 0; j < n; ++j) sets *= 3;
  for (std::size_t set = 0; set < sets; ++set) {
    std::vector<double> s(n, 0.0);
    std::vector<std::size_t> free;
    std::size_t rest = set;
    for (std::size_t j = 0; j < n; ++j, rest /= 3) {
      if (rest % 3 == 0) {
        free.push_back(j);
      } else {
        s[j] = rest % 3 == 1 ? low[j] : high[j];
      }
    }
    const std::size_t count = free.size(), rows = n + count;
    std::vector<double> matrix(rows * (count + 1), 0.0);
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t i = 0; i < n; ++i) matrix[k * rows + i] = triangle[free[k] * n + i];
      matrix[k * rows + n + k] = damping;
    }
    for (std::size_t i = 0; i < n; ++i) {
      matrix[count * rows + i] = c[i];
      for (std::size_t j = 0; j < n; ++j) matrix[count * rows + i] += triangle[j * n + i] * s[j];
    }
    const PivotedSolution solved = solve_pivoted(matrix, rows, count, 0);
    bool inside = true;
    for (std::size_t k = 0; k < count; ++k) {
      s[free[k]] = solved.x[k];
      inside &= s[free[k]] >= low[free[k]] && s[free[k]] <= high[free[k]];
    }
    if (!inside) continue;
    double value = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double sum = c[i];
      for (std::size_t j = 0; j < n; ++j) sum += triangle[j * n + i] * s[j];
      value += sum * sum + damping * damping * s[i] * s[i];
    }
    best = std::min(best, value);
  }
  return best;
}

TEST(BoundedStep, IsTheBestOfAllSetsOfHeldVariables) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::size_t n = 1 + seed % 5;
    std::uint64_t counter = 0;
    std::vector<double> triangle(n * n, 0.0), c(n), low(n), high(n);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i <= j; ++i) triangle[j * n + i] = uniform(seed, counter++);
      c[j] = uniform(seed, counter++);
      low[j] = seed % 3 == 0 && j % 2 == 0 ? 0 : -0.4 * random_unit(seed, counter++);
      high[j] = seed % 7 == 0 && j == 0 ? 0 : 0.4 * random_unit(seed, counter++);
    }
    const double damping = seed % 2 == 0 ? 0.3 : 0.01;
    const BoundedStep step =
        bounded_step({{triangle.data(), n * n}, {c.data(), n}, {low.data(), n}, {high.data(), n}, damping});
    double value = 0, before = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double sum = c[i];
      for (std::size_t j = 0; j < n; ++j) sum += triangle[j * n + i] * step.s[j];
      value += sum * sum + damping * damping * step.s[i] * step.s[i];
      before += c[i] * c[i];
      EXPECT_GE(step.s[i], low[i]);
      EXPECT_LE(step.s[i], high[i]);
    }
    EXPECT_NEAR(value, brute_force(triangle, c, low, high, damping), 1e-12) << seed;
    double undamped = before - step.decrease;
    for (const double s : step.s) undamped += damping * damping * s * s;
    EXPECT_NEAR(undamped, value, 1e-12);
  }
}

TEST(MultiStart, LeavesALocalMinimumAndSolvesForLinearParameters) {
  // a exp(-b t) with b started where the curve is 0 at all but the first row.
  const auto problem = problem_of(20, 2, [](std::size_t i, const double* p, double* d) {
    const double t = 1 + static_cast<double>(i), value = std::exp(-p[1] * t);
    d[0] = value;
    d[1] = -p[0] * t * value;
    return p[0] * value - (5 * std::exp(-0.05 * t) + 0.01 * uniform(11, i));
  });
  const LeastSquaresParams params = params_of(2);
  const std::vector<double> start{1, 800};
  JobControl control;
  OpContext ctx(control);
  const auto run = [&](MoreStarts more) {
    return fit_from_many_starts(problem, {start.data(), 2}, params, {{1, 0}, 20, more}, ctx);
  };
  EXPECT_GT(run(MoreStarts::kNever).fit.cost, 10);
  const MultiStartFit found = run(MoreStarts::kOnFailure);
  EXPECT_GT(found.start_count, 1u);
  EXPECT_EQ(found.fit.end, FitEnd::kConverged);
  EXPECT_NEAR(found.fit.x[0], 5, 0.02);
  EXPECT_NEAR(found.fit.x[1], 0.05, 0.001);
  EXPECT_EQ(run(MoreStarts::kOnFailure).fit.x, found.fit.x);
}

}  // namespace
}  // namespace pc
