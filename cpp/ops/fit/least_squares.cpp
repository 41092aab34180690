#include "ops/fit/least_squares.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ops/fit/householder.h"

namespace pc {

LossValue loss_of(Loss loss, double z) {
  const double t = 1 + z;
  switch (loss) {
    case Loss::kLinear:
      return {z, 1, 0};
    case Loss::kSoftL1:
      return {2 * z / (std::sqrt(t) + 1), 1 / std::sqrt(t), -0.5 / (t * std::sqrt(t))};
    case Loss::kHuber:
      return z <= 1 ? LossValue{z, 1, 0}
                    : LossValue{2 * std::sqrt(z) - 1, 1 / std::sqrt(z), -0.5 / (z * std::sqrt(z))};
    case Loss::kCauchy:
      return {std::log1p(z), 1 / t, -1 / (t * t)};
    case Loss::kArctan:
      return {std::atan(z), 1 / (1 + z * z), -2 * z / ((1 + z * z) * (1 + z * z))};
  }
  return {};
}

double cost_of(Span<const double> residuals, Loss loss, double loss_scale) {
  const bool plain = loss == Loss::kLinear;
  const double unit = plain ? 1 : loss_scale * loss_scale;
  double sum = 0;
  for (const double r : residuals) sum += plain ? r * r : unit * loss_of(loss, r * r / unit).rho;
  return sum;
}

namespace {

/// Factors of the derivatives and of the residual of a row.
std::pair<double, double> row_factors(double residual, Loss loss, double loss_scale) {
  if (loss == Loss::kLinear) return {1, 1};
  constexpr double kLeast = 1e-8;
  const double z = residual * residual / (loss_scale * loss_scale);
  const LossValue value = loss_of(loss, z);
  const double of_derivatives =
      std::sqrt(std::max(value.slope + 2 * value.curvature * z, kLeast * value.slope));
  return {of_derivatives, value.slope / of_derivatives};
}

}  // namespace

std::optional<LinearizedProblem> linearize(Span<const double> residuals, Span<const double> jacobian,
                                           Loss loss, double loss_scale, const OpContext& ctx) {
  const std::size_t rows = residuals.size, n = jacobian.size / rows;
  TriangleOfRows out(n);
  for (std::size_t first = 0; first < rows; first += TriangleOfRows::kBlock) {
    ctx.checkpoint();
    const std::size_t count = std::min(TriangleOfRows::kBlock, rows - first);
    for (std::size_t i = 0; i < count; ++i) {
      const auto [of_derivatives, of_residual] = row_factors(residuals[first + i], loss, loss_scale);
      for (std::size_t j = 0; j < n; ++j) {
        const double value = jacobian[j * rows + first + i] * of_derivatives;
        if (!std::isfinite(value)) return std::nullopt;
        out.block()[j * out.stride() + i] = value;
      }
      out.block()[n * out.stride() + i] = residuals[first + i] * of_residual;
    }
    out.add_block(count);
  }
  return LinearizedProblem{out.triangle(), out.right_side()};
}

}  // namespace pc
