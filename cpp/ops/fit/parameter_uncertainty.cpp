#include "ops/fit/parameter_uncertainty.h"

#include <algorithm>
#include <cmath>

#include "ops/fit/householder.h"

namespace pc {

namespace {

/// Independent parameters, and the inverse of their triangle.
struct Determined {
  std::vector<std::size_t> parameters;
  std::vector<double> inverse;  ///< (count x count) upper, column by column, scaled
  std::vector<double> norms;    ///< (count)
};

/// Drops nothing: the parameters given are independent.
Determined invert(const LeastSquaresFit& fit, const std::vector<std::size_t>& parameters) {
  const std::size_t n = fit.x.size(), count = parameters.size();
  std::vector<double> matrix, norms;
  for (const std::size_t j : parameters) {
    double squared = 0;
    for (std::size_t i = 0; i < n; ++i) squared += fit.triangle[j * n + i] * fit.triangle[j * n + i];
    norms.push_back(std::sqrt(squared));
    for (std::size_t i = 0; i < n; ++i) matrix.push_back(fit.triangle[j * n + i] / norms.back());
  }
  matrix.resize(matrix.size() + n, 0.0);
  const PivotedSolution solved = solve_pivoted(matrix, n, count, 0);
  Determined out{{}, std::vector<double>(count * count, 0.0), {}};
  for (const std::size_t k : solved.order) {
    out.parameters.push_back(parameters[k]);
    out.norms.push_back(norms[k]);
  }
  for (std::size_t k = 0; k < count; ++k) {
    double* column = out.inverse.data() + k * count;
    column[k] = 1 / solved.triangle[k * count + k];
    for (std::size_t i = k; i-- > 0;) {
      double sum = 0;
      for (std::size_t j = i + 1; j <= k; ++j) sum -= solved.triangle[j * count + i] * column[j];
      column[i] = sum / solved.triangle[i * count + i];
    }
  }
  return out;
}

/// Variance of a residual. determined: number of parameters.
double residual_variance(const LeastSquaresFit& fit, Loss loss, double loss_scale, std::size_t determined) {
  const double count = static_cast<double>(fit.residuals.size()), used = static_cast<double>(determined);
  if (!(count > used)) return std::nan("");
  const bool plain = loss == Loss::kLinear;
  double squares = 0, slopes = 0, squared_slopes = 0;
  for (const double r : fit.residuals) {
    const double z = plain ? 0 : r * r / (loss_scale * loss_scale);
    const LossValue at = loss_of(loss, z);
    const double psi = at.slope * r, slope = at.slope + 2 * at.curvature * z;
    squares += psi * psi;
    slopes += slope / count;
    squared_slopes += slope * slope / count;
  }
  if (plain) return squares / (count - used);
  if (!(slopes > 0)) return std::nan("");
  const double k = 1 + used / count * (squared_slopes - slopes * slopes) / (slopes * slopes);
  return k * k * squares / (count - used) / (slopes * slopes);
}

}  // namespace

Determination determination(const LeastSquaresFit& fit) {
  constexpr double kDependent = 1e-11, kPart = 1e-3;
  const std::size_t n = fit.x.size();
  Determination out{std::vector<std::uint8_t>(n, 0), {}};
  std::vector<std::size_t> free;
  std::vector<double> matrix;
  for (std::size_t j = 0; j < n; ++j) {
    if (fit.at_bound[j] != 0) continue;
    double squared = 0;
    for (std::size_t i = 0; i < n; ++i) squared += fit.triangle[j * n + i] * fit.triangle[j * n + i];
    if (squared == 0) {
      out.lost[j] = 1;
      continue;
    }
    free.push_back(j);
    for (std::size_t i = 0; i < n; ++i) matrix.push_back(fit.triangle[j * n + i] / std::sqrt(squared));
  }
  const std::size_t count = free.size();
  matrix.resize(matrix.size() + n, 0.0);
  const PivotedSolution solved = solve_pivoted(matrix, n, count, kDependent);
  for (std::size_t i = 0; i < solved.rank; ++i) out.independent.push_back(free[solved.order[i]]);
  for (std::size_t k = solved.rank; k < count; ++k) {  // column k is a combination of the independent ones
    out.lost[free[solved.order[k]]] = 1;
    std::vector<double> part(solved.rank);
    for (std::size_t i = solved.rank; i-- > 0;) {
      double sum = solved.triangle[k * count + i];
      for (std::size_t j = i + 1; j < solved.rank; ++j) sum -= solved.triangle[j * count + i] * part[j];
      part[i] = sum / solved.triangle[i * count + i];
      if (std::abs(part[i]) > kPart) out.lost[free[solved.order[i]]] = 1;
    }
  }
  return out;
}

ParameterUncertainty parameter_uncertainty(const LeastSquaresFit& fit, Loss loss, double loss_scale) {
  const std::size_t n = fit.x.size();
  const double none = std::nan("");
  ParameterUncertainty out{std::vector<double>(n, none), std::vector<double>(n * n, none), none, 0};
  const Determination known = determination(fit);
  const std::size_t count = known.independent.size();
  out.degrees = static_cast<double>(fit.residuals.size()) - static_cast<double>(count);
  out.variance = residual_variance(fit, loss, loss_scale, count);
  if (count == 0 || !std::isfinite(out.variance)) return out;
  const Determined found = invert(fit, known.independent);
  std::vector<double> covariance(count * count);
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b)
      for (std::size_t k = std::max(a, b); k < count; ++k)
        covariance[a * count + b] += found.inverse[k * count + a] * found.inverse[k * count + b];
  for (std::size_t a = 0; a < count; ++a) {
    const std::size_t j = found.parameters[a];
    if (known.lost[j] != 0) continue;
    out.std_errors[j] = std::sqrt(out.variance * covariance[a * count + a]) / found.norms[a];
    for (std::size_t b = 0; b < count; ++b) {
      if (known.lost[found.parameters[b]] != 0) continue;
      out.correlation[j * n + found.parameters[b]] =
          a == b
              ? 1
              : covariance[a * count + b] / std::sqrt(covariance[a * count + a] * covariance[b * count + b]);
    }
  }
  return out;
}

}  // namespace pc
