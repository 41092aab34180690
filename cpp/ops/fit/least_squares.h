#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// How strongly large residuals count. rho(z) of the squared residual in units of the loss scale, z = (r / scale)^2.
enum class Loss : std::uint8_t {
  kLinear,  ///< z
  kSoftL1,  ///< 2 (sqrt(1 + z) - 1)
  kHuber,   ///< z up to 1, then 2 sqrt(z) - 1
  kCauchy,  ///< log(1 + z)
  kArctan,  ///< atan(z)
};

/// A nonlinear least squares problem.
struct LeastSquaresProblem {
  std::size_t residual_count, parameter_count;
  /// Residuals (residual_count) at parameters x (parameter_count) and, unless the span is empty, their derivatives: that of
  /// residual i by parameter j at j * residual_count + i. Returns false where the residuals are not defined; values that
  /// are not finite count as not defined too. Must poll the context if it takes longer than 50 ms.
  std::function<bool(Span<const double> x, Span<double> residuals, Span<double> jacobian)> evaluate;
};

struct LeastSquaresParams {
  std::vector<double> low,
      high;  ///< (parameter_count) bounds, may be infinite; equal bounds hold a parameter
  Loss loss;
  double loss_scale;            ///< of the residuals' unit, above 0; unused by kLinear
  std::size_t max_evaluations;  ///< of residuals, at least 1
};

enum class FitEnd : std::uint8_t {
  kConverged,        ///< no step within the bounds lowers the cost by more than 1e-10 of it
  kEvaluationLimit,  ///< max_evaluations were used
  kUndefined,        ///< the residuals or their derivatives are not finite at the start; nothing was fitted
  kStalled,          ///< no step lowers the cost though the derivatives promise it
};

struct LeastSquaresFit {
  std::vector<double> x;          ///< (parameter_count)
  std::vector<double> residuals;  ///< (residual_count) of x; not set for kUndefined
  double cost;                    ///< scale^2 sum of rho, = sum of squared residuals for kLinear
  FitEnd end;
  std::size_t evaluation_count;
  std::vector<std::int8_t>
      at_bound;  ///< (parameter_count) -1 = held by the lower bound, 1 = by the upper one
  /// R of the QR factors of the residuals' derivatives (without the loss), (parameter_count^2) column by column.
  std::vector<double> triangle;
};

/// rho(z) and its first two derivatives by z.
struct LossValue {
  double rho, slope, curvature;
};
LossValue loss_of(Loss loss, double z);

/// scale^2 sum of rho.
double cost_of(Span<const double> residuals, Loss loss, double loss_scale);

/// The problem near a point, |R s + c|^2 + a constant for a step s, to second order in the loss.
struct LinearizedProblem {
  std::vector<double> triangle;    ///< R (parameter_count^2) column by column
  std::vector<double> right_side;  ///< c (parameter_count)
};

/// jacobian   as in LeastSquaresProblem
/// Returns nothing if a derivative is not finite.
/// Cancel     Every 256 residuals.
/// Source     Triggs et al. 2000, LNCS 1883: 298, section 4.3, with the curvature kept positive.
std::optional<LinearizedProblem> linearize(Span<const double> residuals, Span<const double> jacobian,
                                           Loss loss, double loss_scale, const OpContext& ctx);

}  // namespace pc
