#include "ops/fit/leaf_objective.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "ops/fit/barrier_newton.h"
#include "ops/fit/levenberg_marquardt.h"

namespace pc {

namespace {

using FreeList = std::vector<std::size_t>;

FreeList listed(const std::array<bool, kLeafParameters>& is_free) {
  FreeList list;
  for (std::size_t i = 0; i < kLeafParameters; ++i)
    if (is_free[i]) list.push_back(i);
  return list;
}

LeafParameters with_free(LeafParameters at, const FreeList& free, Span<const double> x) {
  for (std::size_t j = 0; j < free.size(); ++j) at[free[j]] = x[j];
  return at;
}

/// Residuals of the wavelengths, then of the prior, and their derivatives, column by column.
void evaluate(const LeafObjective& objective, const FreeList& free, const LeafParameters& at,
              Span<double> residuals, Span<double> jacobian) {
  const std::size_t n = objective.index.size();
  for (std::size_t i = 0; i < n; ++i) {
    const LeafRow row = leaf_row(objective.model, objective.index[i], at);
    residuals[i] = objective.weight[i] * (row.value - objective.measured[i]);
    if (jacobian.empty()) continue;
    for (std::size_t j = 0; j < free.size(); ++j)
      jacobian[j * residuals.size + i] = objective.weight[i] * row.slope[free[j]];
  }
  if (!jacobian.empty())
    for (std::size_t j = 0; j < free.size(); ++j)
      std::fill_n(jacobian.data + j * residuals.size + n, free.size(), 0.0);
  for (std::size_t j = 0; j < free.size(); ++j) {
    const LeafParameterRange& range = leaf_parameter_ranges()[free[j]];
    const double strength = objective.prior_strength / range.prior_sd;
    residuals[n + j] = strength * (at[free[j]] - range.prior_mean);
    if (!jacobian.empty()) jacobian[j * residuals.size + n + j] = strength;
  }
}

}  // namespace

const std::array<LeafParameterRange, kLeafParameters>& leaf_parameter_ranges() {
  static constexpr std::array<LeafParameterRange, kLeafParameters> kRanges{{
      {1, 3, 1.6, 0.5},          // N
      {0, 90, 45, 30},           // chlorophyll
      {0, 30, 8, 8},             // carotenoids
      {0, 1, 0.05, 0.2},         // brown pigment
      {0, 0.040, 0.015, 0.02},   // water
      {0, 0.020, 0.005, 0.01},   // dry matter
      {0, 5, 0.6, 1.5},          // anthocyanins
      {0, 0.006, 0.001, 0.002},  // protein
      {0, 0.054, 0.009, 0.018},  // other carbon
      {0.9, 1.1, 1, 0.05},       // scale
      {-0.03, 0.03, 0, 0.02},    // offset
  }};
  return kRanges;
}

LeafRow leaf_row(const ProspectModel& model, std::size_t index, const LeafParameters& at) {
  LeafTraits leaf{at[0], {}};
  for (std::size_t c = 0; c < kConstituents; ++c) leaf.content[c] = at[1 + c];
  const LeafOptics optics = model.at(index, leaf);
  const auto& coefficients = model.absorption(index);
  const double scale = at[kCalibrationScale], by_absorption = scale * optics.reflectance_by_absorption;
  LeafRow row{};
  row.value = scale * optics.reflectance + at[kCalibrationOffset];
  row.slope[0] = scale * optics.reflectance_by_layers;
  for (std::size_t c = 0; c < kConstituents; ++c) row.slope[1 + c] = by_absorption * coefficients[c];
  row.slope[kCalibrationScale] = optics.reflectance;
  row.slope[kCalibrationOffset] = 1;
  return row;
}

LeafSolution solve_leaf(const LeafObjective& objective, const LeafParameters& start,
                        std::size_t max_evaluations, OpContext& ctx) {
  const FreeList free = listed(objective.is_free);
  LeastSquaresParams params{{}, {}, objective.loss, objective.loss_scale, max_evaluations};
  std::vector<double> x;
  for (const std::size_t i : free) {
    params.low.push_back(leaf_parameter_ranges()[i].lower);
    params.high.push_back(leaf_parameter_ranges()[i].upper);
    x.push_back(start[i]);
  }
  const LeastSquaresProblem problem{
      objective.index.size() + free.size(), free.size(),
      [&](Span<const double> at, Span<double> residuals, Span<double> jacobian) {
        evaluate(objective, free, with_free(start, free, at), residuals, jacobian);
        return true;
      }};
  const LeastSquaresFit fit = levenberg_marquardt(problem, {x.data(), x.size()}, params, ctx);
  return {with_free(start, free, {fit.x.data(), fit.x.size()}), fit.cost, fit.end == FitEnd::kConverged};
}

LeafMatrix leaf_products(const LeafObjective& objective, const LeafParameters& at,
                         Span<const double> factor) {
  LeafMatrix sum{};
  for (std::size_t n = 0; n < objective.index.size(); ++n) {
    const LeafRow row = leaf_row(objective.model, objective.index[n], at);
    for (std::size_t i = 0; i < kLeafParameters; ++i) {
      const double part = factor[n] * row.slope[i];
      for (std::size_t j = 0; j < kLeafParameters; ++j) sum[i][j] += part * row.slope[j];
    }
  }
  return sum;
}

double loss_curvature(Loss loss, double loss_scale, double r) {
  if (loss == Loss::kLinear) return 1;
  const double z = (r / loss_scale) * (r / loss_scale);
  const LossValue value = loss_of(loss, z);
  return std::max(value.slope + 2 * z * value.curvature, value.slope / 4);
}

LeafMatrix inverse_over(const LeafMatrix& matrix, const std::array<bool, kLeafParameters>& is_free) {
  const FreeList free = listed(is_free);
  LeafParameters unit{};  // entries differ by 1e12, so that Cholesky needs them scaled
  for (const std::size_t i : free) unit[i] = 1 / std::sqrt(matrix[i][i]);
  LeafMatrix scaled{}, inverse{};
  for (std::size_t i = 0; i < kLeafParameters; ++i) scaled[i][i] = 1;
  for (const std::size_t i : free)
    for (const std::size_t j : free) scaled[i][j] = matrix[i][j] * unit[i] * unit[j];
  for (const std::size_t column : free) {
    LeafParameters b{};
    b[column] = 1;
    const auto solution = solve_small(scaled, b);
    if (!solution) throw Error(ErrorCode::kInternal, "the information on the leaf is singular");
    for (const std::size_t i : free) inverse[i][column] = (*solution)[i] * unit[i] * unit[column];
  }
  return inverse;
}

}  // namespace pc
