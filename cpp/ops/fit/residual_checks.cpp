#include "ops/fit/residual_checks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "ops/fit/student_t.h"

namespace pc {

namespace {

constexpr double kFewestDegrees = 3;
/// Rows that fix the curve by themselves have no residual to speak of.
constexpr double kLeastFreedom = 1e-6;

/// Logarithms of 0! to count!.
std::vector<double> log_factorials(std::size_t count) {
  std::vector<double> out(count + 1, 0.0);
  for (std::size_t i = 1; i <= count; ++i) out[i] = out[i - 1] + std::log(static_cast<double>(i));
  return out;
}

/// Probability of at most `runs` stretches in an order by chance of `plus` and `minus` signs.
double probability_of_runs(std::size_t runs, std::size_t plus, std::size_t minus) {
  const std::vector<double> factorial = log_factorials(plus + minus);
  const auto ways = [&](std::size_t of, std::size_t take) {  // logarithm
    return take > of ? -INFINITY : factorial[of] - factorial[take] - factorial[of - take];
  };
  const double all = ways(plus + minus, plus);
  double sum = 0;
  for (std::size_t r = 2; r <= runs; ++r) {
    const std::size_t k = r / 2;
    if (r % 2 == 0) {
      sum += 2 * std::exp(ways(plus - 1, k - 1) + ways(minus - 1, k - 1) - all);
    } else {
      sum += std::exp(ways(plus - 1, k) + ways(minus - 1, k - 1) - all) +
             std::exp(ways(plus - 1, k - 1) + ways(minus - 1, k) - all);
    }
  }
  return std::min(1.0, sum);
}

void count_runs(ResidualChecks& out, Span<const double> residuals, Span<const double> order_by) {
  std::vector<std::size_t> rows(residuals.size);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::size_t a, std::size_t b) { return order_by[a] < order_by[b]; });
  std::size_t plus = 0, minus = 0;
  int last = 0;
  for (const std::size_t row : rows) {
    const int sign = residuals[row] > 0 ? 1 : residuals[row] < 0 ? -1 : 0;
    if (sign == 0) continue;
    ++(sign > 0 ? plus : minus);
    if (sign != last) ++out.run_count;
    last = sign;
  }
  if (plus > 0 && minus > 0) out.run_probability = probability_of_runs(out.run_count, plus, minus);
}

}  // namespace

ResidualChecks residual_checks(Span<const double> residuals, Span<const double> errors,
                               Span<const double> order_by, double degrees) {
  ResidualChecks out{0, std::nan(""), 1, 0, 1};
  if (!(degrees >= kFewestDegrees)) return out;
  double squares = 0;
  for (std::size_t i = 0; i < residuals.size; ++i) squares += residuals[i] * residuals[i];
  if (!(squares > 0) || !std::isfinite(squares)) return out;
  const double variance = squares / degrees;
  double farthest = 0;
  for (std::size_t i = 0; i < residuals.size; ++i) {
    const double leverage = errors.size == 0 ? 0 : errors[i] * errors[i] / variance;
    const double freedom = 1 - leverage;
    if (!(freedom > kLeastFreedom)) continue;
    const double own = residuals[i] * residuals[i] / freedom;
    const double rest = std::max(squares - own, 1e-12 * squares) / (degrees - 1);
    const double t = residuals[i] / std::sqrt(rest * freedom);
    if (std::abs(t) <= farthest) continue;
    farthest = std::abs(t);
    out.outlier_row = i;
    out.outlier_deviations = t;
  }
  if (farthest > 0) {
    const double beyond = 2 * student_t_probability(-farthest, degrees - 1);
    out.outlier_probability = std::min(1.0, beyond * static_cast<double>(residuals.size));
  }
  count_runs(out, residuals, order_by);
  return out;
}

}  // namespace pc
