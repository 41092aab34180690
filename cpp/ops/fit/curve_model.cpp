#include "ops/fit/curve_model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"

namespace pc {

namespace {

constexpr std::size_t kBlock = Expression::kBlock;
constexpr double kPrecise = 1e-15;  // of the output: a root is found
constexpr double kAccepted = 1e-9;  // of the output: rounding keeps the steps from becoming shorter
constexpr int kNewtonSteps = 100;

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

/// Newton's method for one row.
struct RootSearch {
  double y, value, step,
      length;  ///< best point, function there, full step from it, part of the step on trial
  bool done, failed;

  bool active() const { return !done && !failed; }
  double trial() const { return y + length * step; }

  /// Takes the function and its derivative at the trial point.
  void take(double f, double slope, double scale) {
    const bool better = std::isfinite(f) && std::isfinite(slope) && std::abs(f) < std::abs(value);
    if (!better) {
      failed = value == HUGE_VAL;  // not defined at the measured output
      if (failed) return;
      done = std::abs(step) <= kAccepted * scale && std::abs(length * step) <= kPrecise * scale;
      length /= 2;
      failed = !done && length < 1e-12;
      return;
    }
    y = trial();
    value = f;
    step = -f / slope;
    length = 1;
    done = f == 0 || std::abs(step) <= kPrecise * scale;
    failed = !std::isfinite(step);
  }
};

}  // namespace

CurvePrediction::CurvePrediction(const CurveModel& model, const CurveData& data)
    : data_(data),
      parameters_(model.parameter_count),
      implicit_(model.implicit),
      expression_(model.program, model.parameter_count + (model.implicit ? 1 : 0)),
      workspace_(expression_.workspace_size()),
      derivatives_(kBlock * (parameters_ + 1)) {
  const std::size_t rows = data.measured.size();
  require(rows > 0, "the data have no row");
  require(model.program.symbol_count == expression_.direction_count() + data.inputs.size(),
          "a curve has a symbol for each parameter and input");
  require(all_finite(data.measured), "the measured output must be finite");
  symbols_.assign(parameters_, {nullptr, false});
  if (implicit_) {
    roots_ = data.measured;
    symbols_.push_back({roots_.data(), true});
  }
  for (const std::vector<double>& input : data.inputs) {
    require(input.size() == rows, "the columns of the data differ in length");
    require(all_finite(input), "the inputs must be finite");
    symbols_.push_back({input.data(), true});
  }
}

bool CurvePrediction::evaluate(Span<const double> x, Span<double> fitted, Span<double> jacobian,
                               const OpContext& ctx) {
  ctx_ = &ctx;
  for (std::size_t j = 0; j < parameters_; ++j) symbols_[j].values = x.data + j;
  for (std::size_t first = 0; first < row_count(); first += kBlock) {
    ctx.checkpoint();
    const std::size_t count = std::min(kBlock, row_count() - first);
    if (!(implicit_ ? implicit_rows(first, count, fitted, jacobian)
                    : explicit_rows(first, count, fitted, jacobian)))
      return false;
  }
  return true;
}

bool CurvePrediction::explicit_rows(std::size_t first, std::size_t count, Span<double> fitted,
                                    Span<double> jacobian) {
  expression_.evaluate(symbols(), first, count, fitted.data + first,
                       jacobian.empty() ? nullptr : jacobian.data + first, row_count(), workspace_.data());
  return std::all_of(fitted.data + first, fitted.data + first + count,
                     [](double value) { return std::isfinite(value); });
}

bool CurvePrediction::implicit_rows(std::size_t first, std::size_t count, Span<double> fitted,
                                    Span<double> jacobian) {
  if (!newton(first, count)) return false;
  std::copy_n(roots_.begin() + first, count, fitted.data + first);
  if (jacobian.empty()) return true;
  std::array<double, kBlock> values;
  expression_.evaluate(symbols(), first, count, values.data(), derivatives_.data(), kBlock,
                       workspace_.data());
  const double* by_output = derivatives_.data() + parameters_ * kBlock;
  for (std::size_t j = 0; j < parameters_; ++j)
    for (std::size_t i = 0; i < count; ++i)
      jacobian[j * row_count() + first + i] = -derivatives_[j * kBlock + i] / by_output[i];
  return true;
}

bool CurvePrediction::newton(std::size_t first, std::size_t count) {
  std::array<RootSearch, kBlock> rows;
  std::array<double, kBlock> values;
  const double* slopes = derivatives_.data() + parameters_ * kBlock;
  const auto scale = [&](std::size_t i) {
    return std::max({std::abs(rows[i].y), std::abs(data_.measured[first + i]), 1e-290});
  };
  for (std::size_t i = 0; i < count; ++i) rows[i] = {data_.measured[first + i], HUGE_VAL, 0, 1, false, false};
  for (int step = 0; step < kNewtonSteps; ++step) {
    ctx_->checkpoint();
    for (std::size_t i = 0; i < count; ++i)
      roots_[first + i] = rows[i].active() ? rows[i].trial() : rows[i].y;
    expression_.evaluate(symbols(), first, count, values.data(), derivatives_.data(), kBlock,
                         workspace_.data());
    bool moving = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (!rows[i].active()) continue;
      rows[i].take(values[i], slopes[i], scale(i));
      moving |= rows[i].active();
    }
    if (!moving) break;
  }
  for (std::size_t i = 0; i < count; ++i) {
    roots_[first + i] = rows[i].y;
    if (!rows[i].done && !bracketed_root(first + i)) return false;
  }
  return true;
}

double CurvePrediction::function(std::size_t row, double y) {
  ctx_->checkpoint();
  double value = 0;
  roots_[row] = y;
  expression_.evaluate(symbols(), row, 1, &value, nullptr, 0, workspace_.data());
  return value;
}

/// Bisects between two outputs where the function has different signs. A pole is no root: there the function grows.
bool CurvePrediction::bisect(std::size_t row, double low, double high) {
  constexpr int kBisections = 1100;
  const double at_low = function(row, low), at_high = function(row, high);
  double last = at_low;
  for (int i = 0; i < kBisections; ++i) {
    const double half = low + (high - low) / 2;
    if (half == low || half == high) break;
    last = function(row, half);
    ((last < 0) == (at_low < 0) ? low : high) = half;
  }
  roots_[row] = low;
  return std::isfinite(last) && std::abs(last) < std::max(std::abs(at_low), std::abs(at_high));
}

/// The change of sign nearest to the measured output.
bool CurvePrediction::bracketed_root(std::size_t row) {
  constexpr int kDoublings = 44;
  const double measured = data_.measured[row];
  const double unit = 1e-3 * (measured == 0 ? 1 : std::abs(measured));
  std::array<double, 2> ends{measured, measured};
  const double middle = function(row, measured);
  std::array<double, 2> at_ends{middle, middle};
  for (int k = 0; k < kDoublings; ++k) {
    for (const std::size_t side : {0, 1}) {
      const double y = measured + (side == 0 ? -1 : 1) * std::ldexp(unit, k);
      const double value = function(row, y);
      const bool both = std::isfinite(value) && std::isfinite(at_ends[side]);
      if (both && (value < 0) != (at_ends[side] < 0) && bisect(row, ends[side], y)) return true;
      ends[side] = y;
      at_ends[side] = value;
    }
  }
  return false;
}

}  // namespace pc
