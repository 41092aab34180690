#include "ops/fit/leaf_objective.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.h"
#include "ops/fit/barrier_newton.h"

namespace pc {

namespace {

using FreeList = std::vector<std::size_t>;

FreeList listed(const std::array<bool, kLeafParameters>& is_free) {
  FreeList list;
  for (std::size_t i = 0; i < kLeafParameters; ++i)
    if (is_free[i]) list.push_back(i);
  return list;
}

/// Adds a residual r with the derivatives `slope` of the listed parameters.
void add_residual(const LeafObjective& objective, const FreeList& free, double r, const LeafParameters& slope,
                  LeafQuadratic& sum) {
  const bool linear = objective.loss == RobustLoss::kLinear;
  const double scale = linear ? 1 : objective.loss_scale, z = (r / scale) * (r / scale);
  const LossSlopes loss = linear ? LossSlopes{z, 1, 1} : loss_slopes(objective.loss, z);
  sum.cost += 0.5 * scale * scale * loss.value;
  for (const std::size_t i : free) {
    const double part = slope[i];
    sum.gradient[i] += loss.weight * r * part;
    const double curved = loss.curvature * part;
    for (const std::size_t j : free) {
      if (j > i) break;
      sum.curvature[i][j] += curved * slope[j];
    }
  }
}

double clamped(std::size_t i, double value) {
  const LeafParameterRange& range = leaf_parameter_ranges()[i];
  return std::clamp(value, range.lower, range.upper);
}

/// Solves (curvature + damping * scale) s = -gradient over `moving`, and adds s to the step; nothing if that is singular.
bool solve_moving(const LeafQuadratic& at, const FreeList& moving, const LeafParameters& right_side,
                  const LeafParameters& damping, LeafParameters& step) {
  std::array<std::array<double, kLeafParameters>, kLeafParameters> matrix{};
  LeafParameters b{};
  for (std::size_t i = 0; i < kLeafParameters; ++i) matrix[i][i] = 1;
  for (const std::size_t i : moving) {
    for (const std::size_t j : moving)
      if (j <= i) matrix[i][j] = at.curvature[i][j];
    matrix[i][i] += damping[i];
    b[i] = right_side[i];
  }
  const auto solution = solve_small(matrix, b);
  if (!solution) return false;
  for (const std::size_t i : moving) step[i] = (*solution)[i];
  return true;
}

double curvature_of(const LeafQuadratic& at, std::size_t i, std::size_t j) {
  return i >= j ? at.curvature[i][j] : at.curvature[j][i];
}

/// The step to the damped minimum of the quadratic inside the ranges.
std::optional<LeafParameters> bounded_step(const LeafQuadratic& at, const LeafParameters& x, const FreeList& free,
                                           const LeafParameters& damping) {
  FreeList moving;
  for (const std::size_t i : free) {
    const LeafParameterRange& range = leaf_parameter_ranges()[i];
    const bool held = (x[i] <= range.lower && at.gradient[i] >= 0) || (x[i] >= range.upper && at.gradient[i] <= 0);
    if (!held) moving.push_back(i);
  }
  LeafParameters step{}, right_side{};
  for (const std::size_t i : free) right_side[i] = -at.gradient[i];
  while (!moving.empty()) {
    if (!solve_moving(at, moving, right_side, damping, step)) return std::nullopt;
    FreeList inside, stopped;
    for (const std::size_t i : moving) {
      const double to = x[i] + step[i];
      (clamped(i, to) == to ? inside : stopped).push_back(i);
    }
    if (stopped.empty()) break;
    for (const std::size_t i : stopped) {
      step[i] = clamped(i, x[i] + step[i]) - x[i];
      for (const std::size_t j : inside) right_side[j] -= curvature_of(at, j, i) * step[i];
    }
    moving = inside;
  }
  return step;
}

/// What the quadratic loses by a step.
double expected_loss(const LeafQuadratic& at, const LeafParameters& step, const FreeList& free) {
  double sum = 0;
  for (const std::size_t i : free) {
    sum -= at.gradient[i] * step[i];
    for (const std::size_t j : free) sum -= 0.5 * step[i] * curvature_of(at, i, j) * step[j];
  }
  return sum;
}

}  // namespace

const std::array<LeafParameterRange, kLeafParameters>& leaf_parameter_ranges() {
  static constexpr std::array<LeafParameterRange, kLeafParameters> kRanges{{
      {1, 3, 1.6, 0.5},              // N
      {0, 90, 45, 30},               // chlorophyll
      {0, 30, 8, 8},                 // carotenoids
      {0, 1, 0.05, 0.2},             // brown pigment
      {0, 0.040, 0.015, 0.02},       // water
      {0, 0.020, 0.005, 0.01},       // dry matter
      {0, 5, 0.6, 1.5},              // anthocyanins
      {0, 0.006, 0.001, 0.002},      // protein
      {0, 0.054, 0.009, 0.018},      // other carbon
      {0.9, 1.1, 1, 0.05},           // scale
      {-0.03, 0.03, 0, 0.02},        // offset
  }};
  return kRanges;
}

LossSlopes loss_slopes(RobustLoss loss, double z) {
  double value = z, weight = 1, second = 0;
  switch (loss) {
    case RobustLoss::kLinear:
      break;
    case RobustLoss::kSoftL1: {
      const double root = std::sqrt(1 + z);
      value = 2 * z / (root + 1);
      weight = 1 / root;
      second = -0.5 / (root * (1 + z));
      break;
    }
    case RobustLoss::kHuber:
      if (z > 1) {
        const double root = std::sqrt(z);
        value = 2 * root - 1;
        weight = 1 / root;
        second = -0.5 / (root * z);
      }
      break;
    case RobustLoss::kCauchy:
      value = std::log1p(z);
      weight = 1 / (1 + z);
      second = -weight * weight;
      break;
    case RobustLoss::kArctan:
      value = std::atan(z);
      weight = 1 / (1 + z * z);
      second = -2 * z * weight * weight;
      break;
  }
  return {value, weight, std::max(weight + 2 * z * second, 0.25 * weight)};
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

LeafQuadratic leaf_quadratic(const LeafObjective& objective, const LeafParameters& at) {
  const FreeList free = listed(objective.is_free);
  LeafQuadratic sum;
  for (std::size_t n = 0; n < objective.index.size(); ++n) {
    LeafRow row = leaf_row(objective.model, objective.index[n], at);
    const double weight = objective.weight[n];
    for (const std::size_t i : free) row.slope[i] *= weight;
    add_residual(objective, free, weight * (row.value - objective.measured[n]), row.slope, sum);
  }
  for (const std::size_t i : free) {
    const LeafParameterRange& range = leaf_parameter_ranges()[i];
    LeafParameters slope{};
    slope[i] = objective.prior_strength / range.prior_sd;
    add_residual(objective, {i}, slope[i] * (at[i] - range.prior_mean), slope, sum);
  }
  return sum;
}

LeafSolution solve_leaf(const LeafObjective& objective, const LeafParameters& start, int max_evaluations,
                        OpContext& ctx) {
  constexpr double kEnough = 1e-13, kMostDamping = 1e20;
  const FreeList free = listed(objective.is_free);
  LeafParameters x = start, scale{};
  LeafQuadratic at = leaf_quadratic(objective, x);
  double damping = 1e-3, growth = 2;
  for (int evaluations = 1; evaluations < max_evaluations && damping < kMostDamping;) {
    ctx.checkpoint();
    LeafParameters added{};
    for (const std::size_t i : free) {
      scale[i] = std::max(scale[i], at.curvature[i][i]);
      added[i] = damping * scale[i];
    }
    const auto step = bounded_step(at, x, free, added);
    const double expected = step ? expected_loss(at, *step, free) : -1;
    if (step && std::abs(expected) <= kEnough * at.cost && damping < 1) return {x, at.cost, true};
    if (!(expected > 0)) {
      damping *= growth;
      growth *= 2;
      continue;
    }
    LeafParameters next = x;
    for (const std::size_t i : free) next[i] = clamped(i, x[i] + (*step)[i]);
    LeafQuadratic there = leaf_quadratic(objective, next);
    ++evaluations;
    const double gained = at.cost - there.cost;
    if (gained >= 0) {
      const double agreement = 2 * gained / expected - 1;
      const bool done = damping < 1 && gained <= kEnough * at.cost && expected <= 1e-10 * at.cost;
      damping *= std::max(1.0 / 3, 1 - agreement * agreement * agreement);
      growth = 2;
      x = next;
      at = there;
      if (done) return {x, at.cost, true};
    } else {
      if (damping < 1 && expected <= 1e-10 * at.cost && -gained <= kEnough * at.cost) return {x, at.cost, true};
      damping *= growth;
      growth *= 2;
    }
  }
  return {x, at.cost, at.cost == 0};
}

LeafMatrix inverse_over(const LeafMatrix& lower, const std::array<bool, kLeafParameters>& is_free) {
  LeafMatrix matrix{}, inverse{};
  const FreeList free = listed(is_free);
  LeafParameters unit{};  // the curvatures differ by 1e12, which Cholesky would take for singular at the last place
  unit.fill(1);
  for (const std::size_t i : free) unit[i] = 1 / std::sqrt(lower[i][i]);
  for (std::size_t i = 0; i < kLeafParameters; ++i) matrix[i][i] = 1;
  for (const std::size_t i : free)
    for (const std::size_t j : free)
      if (j <= i) matrix[i][j] = lower[i][j] * unit[i] * unit[j];
  for (const std::size_t column : free) {
    LeafParameters b{};
    b[column] = 1;
    const auto solution = solve_small(matrix, b);
    if (!solution) throw Error(ErrorCode::kInternal, "the information on the leaf is singular");
    for (const std::size_t i : free) inverse[i][column] = (*solution)[i] * unit[i] * unit[column];
  }
  return inverse;
}

}  // namespace pc
