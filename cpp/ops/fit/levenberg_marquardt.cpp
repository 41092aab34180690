#include "ops/fit/levenberg_marquardt.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ops/fit/bounded_step.h"

namespace pc {

namespace {

constexpr double kFirstDamping = 1e-3;  // squared; the first steps are nearly undamped
constexpr double kLeastDamping = 1e-24, kMostDamping = 1e24;
constexpr double kScaleDecay = 0.3;  // of the scales, a step
constexpr double kLeastGain = 1e-4;  // of the promised decrease
constexpr double kSettled = 1e-15;   // decreases below this part of the cost are rounding
constexpr double kConvergedPart = 1e-10;
constexpr double kSameCost = 1e-8;  // part of the cost that rounding may add during the last steps

/// Parameters with everything that the next step needs.
struct Point {
  std::vector<double> x, residuals;
  double cost = HUGE_VAL;
  std::vector<double> triangle, right_side;  ///< with the loss
  std::vector<double> norms;                 ///< of the columns of the triangle
};

/// A step in the units of its problem, and in those of the parameters.
struct Step {
  BoundedStep scaled;
  std::vector<double> change;
};

class Minimizer {
 public:
  Minimizer(const LeastSquaresProblem& problem, const LeastSquaresParams& params, OpContext& ctx)
      : problem_(problem), params_(params), ctx_(ctx), scale_(problem.parameter_count, 0.0) {}

  LeastSquaresFit run(Span<const double> start) {
    Point at;
    at.x.assign(start.begin(), start.end());
    for (std::size_t j = 0; j < at.x.size(); ++j)
      at.x[j] = std::clamp(at.x[j], params_.low[j], params_.high[j]);
    if (!evaluate(at)) return undefined(std::move(at));
    follow_norms(at);
    descend(at);
    settle(at);
    return finished(std::move(at));
  }

 private:
  bool budget_left() const { return evaluations_ < params_.max_evaluations; }

  /// Residuals, cost and linearized problem at point.x. Returns false where they are not defined.
  bool evaluate(Point& point) {
    ctx_.checkpoint();
    ++evaluations_;
    const std::size_t rows = problem_.residual_count;
    point.residuals.resize(rows);
    jacobian_.resize(rows * problem_.parameter_count);
    if (!problem_.evaluate({point.x.data(), point.x.size()}, {point.residuals.data(), rows},
                           {jacobian_.data(), jacobian_.size()}))
      return false;
    point.cost = cost_of(view(point.residuals), params_.loss, params_.loss_scale);
    return std::isfinite(point.cost) && reduce(point);
  }

  /// The linearized problem. Returns false if a derivative is not finite.
  bool reduce(Point& point) {
    auto linear = linearize(view(point.residuals), view(jacobian_), params_.loss, params_.loss_scale, ctx_);
    if (!linear) return false;
    point.triangle = std::move(linear->triangle);
    point.right_side = std::move(linear->right_side);
    const std::size_t n = problem_.parameter_count;
    point.norms.resize(n);
    for (std::size_t j = 0; j < n; ++j) {
      double squared = 0;
      for (std::size_t i = 0; i <= j; ++i) squared += point.triangle[j * n + i] * point.triangle[j * n + i];
      point.norms[j] = std::sqrt(squared);
    }
    return true;
  }

  static Span<const double> view(const std::vector<double>& values) { return {values.data(), values.size()}; }

  /// Scales of the damped steps. They follow the norms upwards at once and downwards slowly, so that a derivative that
  /// vanishes for a moment does not let its parameter run away.
  void follow_norms(const Point& at) {
    for (std::size_t j = 0; j < scale_.size(); ++j)
      scale_[j] = std::max(at.norms[j], kScaleDecay * scale_[j]);
  }
  /// Unit of the step of parameter j: an undamped step is scaled for the ranks of its columns alone.
  double unit(const Point& at, std::size_t j, double damping) const {
    const double scale = damping > 0 ? scale_[j] : at.norms[j];
    return scale > 0 ? scale : 1;
  }

  /// The best step from a point with the square of the damping.
  Step step_from(const Point& at, double damping) const {
    const std::size_t n = at.x.size();
    std::vector<double> triangle = at.triangle, low(n), high(n);
    for (std::size_t j = 0; j < n; ++j) {
      const double u = unit(at, j, damping);
      for (std::size_t i = 0; i <= j; ++i) triangle[j * n + i] /= u;
      low[j] = std::min(0.0, (params_.low[j] - at.x[j]) * u);
      high[j] = std::max(0.0, (params_.high[j] - at.x[j]) * u);
    }
    Step out{bounded_step({{triangle.data(), n * n},
                           {at.right_side.data(), n},
                           {low.data(), n},
                           {high.data(), n},
                           std::sqrt(damping)}),
             std::vector<double>(n)};
    for (std::size_t j = 0; j < n; ++j) out.change[j] = out.scaled.s[j] / unit(at, j, damping);
    return out;
  }

  Point moved(const Point& at, const Step& step) const {
    Point to;
    to.x = at.x;
    for (std::size_t j = 0; j < to.x.size(); ++j) {
      to.x[j] = step.scaled.held[j] < 0 ? params_.low[j]
                : step.scaled.held[j] > 0
                    ? params_.high[j]
                    : std::clamp(to.x[j] + step.change[j], params_.low[j], params_.high[j]);
    }
    return to;
  }

  static bool same(const Point& a, const Point& b) { return a.x == b.x; }

  /// Damped steps while the cost falls by more than rounding.
  void descend(Point& at) {
    double damping = kFirstDamping, growth = 2;
    while (budget_left() && damping < kMostDamping) {
      const Step step = step_from(at, damping);
      if (!(step.scaled.decrease > kSettled * at.cost)) return;
      Point next = moved(at, step);
      if (same(next, at)) return;
      const bool defined = evaluate(next);
      const double gain = defined ? (at.cost - next.cost) / step.scaled.decrease : -1;
      if (gain > kLeastGain) {
        at = std::move(next);
        follow_norms(at);
        const double t = 2 * gain - 1;
        damping = std::max(damping * std::max(1.0 / 3, 1 - t * t * t), kLeastDamping);
        growth = 2;
      } else {
        damping = std::max(damping, 1e-16) * growth;
        growth *= 2;
      }
    }
  }

  /// Undamped steps as long as they become shorter, which they may not do every time: costs cannot tell such points apart.
  void settle(Point& at) {
    constexpr int kMostSteps = 100, kMostMisses = 4;
    constexpr double kShorter = 0.95;
    Point trial = at;
    Step step = step_from(trial, 0);
    double shortest = length(step);
    for (int i = 0, misses = 0; i < kMostSteps && misses < kMostMisses && budget_left(); ++i) {
      Point next = moved(trial, step);
      if (same(next, trial) || !evaluate(next)) return;
      if (next.cost > at.cost * (1 + kSameCost)) return;
      step = step_from(next, 0);
      trial = std::move(next);
      ++misses;
      if (!(length(step) < shortest)) continue;
      if (length(step) < kShorter * shortest) misses = 0;
      shortest = length(step);
      at = trial;
    }
  }

  static double length(const Step& step) {
    double sum = 0;
    for (const double s : step.scaled.s) sum += s * s;
    return std::sqrt(sum);
  }

  /// Whether a step changes no parameter by more than rounding.
  bool changes_nothing(const Point& at, const Step& step) const {
    constexpr double kPart = 1e-12;
    for (std::size_t j = 0; j < at.x.size(); ++j)
      if (std::abs(step.change[j]) > kPart * std::abs(at.x[j])) return false;
    return true;
  }

  LeastSquaresFit undefined(Point&& at) const {
    LeastSquaresFit out;
    out.x = std::move(at.x);
    out.cost = HUGE_VAL;
    out.end = FitEnd::kUndefined;
    out.evaluation_count = evaluations_;
    return out;
  }

  LeastSquaresFit finished(Point&& at) {
    const Step step = step_from(at, 0);
    const bool converged = step.scaled.decrease <= kConvergedPart * at.cost || changes_nothing(at, step);
    LeastSquaresFit out;
    out.end = converged ? FitEnd::kConverged : budget_left() ? FitEnd::kStalled : FitEnd::kEvaluationLimit;
    for (std::size_t j = 0; j < at.x.size(); ++j) {
      const double bound = step.scaled.held[j] < 0 ? params_.low[j] : params_.high[j];
      out.at_bound.push_back(at.x[j] == bound ? step.scaled.held[j] : 0);
    }
    out.triangle = at.triangle;
    if (params_.loss != Loss::kLinear) {
      evaluate(at);  // the derivatives of this point again
      out.triangle = linearize(view(at.residuals), view(jacobian_), Loss::kLinear, 1, ctx_)->triangle;
    }
    out.x = std::move(at.x);
    out.residuals = std::move(at.residuals);
    out.cost = at.cost;
    out.evaluation_count = evaluations_;
    return out;
  }

  const LeastSquaresProblem& problem_;
  const LeastSquaresParams& params_;
  OpContext& ctx_;
  std::vector<double> scale_;  ///< of the damped steps
  std::vector<double> jacobian_;
  std::size_t evaluations_ = 0;
};

}  // namespace

LeastSquaresFit levenberg_marquardt(const LeastSquaresProblem& problem, Span<const double> start,
                                    const LeastSquaresParams& params, OpContext& ctx) {
  const std::size_t n = problem.parameter_count;
  require(n > 0 && problem.residual_count > 0, "a fit needs a parameter and a residual");
  require(start.size == n && params.low.size() == n && params.high.size() == n,
          "a fit needs a start and two bounds for each parameter");
  for (std::size_t j = 0; j < n; ++j) {
    require(std::isfinite(start[j]), "the start values must be finite");
    require(params.low[j] <= params.high[j], "the lower bound of a parameter lies above its upper one");
  }
  require(params.loss == Loss::kLinear || (std::isfinite(params.loss_scale) && params.loss_scale > 0),
          "loss_scale must be finite and above 0");
  require(params.max_evaluations > 0, "a fit needs an evaluation");
  return Minimizer(problem, params, ctx).run(start);
}

}  // namespace pc
