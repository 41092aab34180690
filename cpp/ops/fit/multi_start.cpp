#include "ops/fit/multi_start.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/random.h"
#include "ops/fit/bounded_step.h"
#include "ops/fit/levenberg_marquardt.h"
#include "ops/fit/parameter_uncertainty.h"

namespace pc {

namespace {

constexpr std::size_t kScreened = 24, kPoints = 200, kFits = 12;
constexpr std::size_t kBriefly = 200;  // evaluations of a further start; the best one goes on
constexpr std::uint64_t kSeed = 20;
constexpr double kGoodPart = 0.01;  // of the variation
constexpr double kSame = 1e-9;      // costs closer than this are equal

struct Candidate {
  std::vector<double> x;
  double cost;
};

class Starts {
 public:
  Starts(const LeastSquaresProblem& problem, Span<const double> start, const LeastSquaresParams& params,
         const MultiStartParams& starts, OpContext& ctx)
      : problem_(problem), start_(start), params_(params), starts_(starts), ctx_(ctx) {}

  MultiStartFit run() {
    MultiStartFit out{levenberg_marquardt(problem_, start_, params_, ctx_), 1, 0};
    out.evaluation_count = out.fit.evaluation_count;
    if (starts_.more == MoreStarts::kNever) return out;
    const bool failed = starts_.more == MoreStarts::kAlways || has_failed(out.fit);
    if (!failed && out.fit.cost <= kGoodPart * starts_.total_squares) return out;
    add_points(kScreened);
    if (!failed && !any_below(out.fit.cost)) {
      out.evaluation_count += evaluations_;
      return out;
    }
    add_points(kPoints);
    std::stable_sort(points_.begin(), points_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
    LeastSquaresParams brief = params_;
    brief.max_evaluations = std::min(brief.max_evaluations, kBriefly);
    for (std::size_t i = 0; i < std::min(kFits, points_.size()); ++i) {
      ++out.start_count;
      take_better(out, levenberg_marquardt(problem_, view(points_[i].x), brief, ctx_));
    }
    if (out.fit.end == FitEnd::kEvaluationLimit && brief.max_evaluations < params_.max_evaluations) {
      const std::vector<double> x = out.fit.x;
      take_better(out, levenberg_marquardt(problem_, view(x), params_, ctx_));
    }
    out.evaluation_count += evaluations_;
    return out;
  }

 private:
  static bool has_failed(const LeastSquaresFit& fit) {
    if (fit.end != FitEnd::kConverged) return true;
    const auto nonzero = [](auto value) { return value != 0; };
    if (std::any_of(fit.at_bound.begin(), fit.at_bound.end(), nonzero)) return true;
    const Determination found = determination(fit);
    return std::any_of(found.lost.begin(), found.lost.end(), nonzero);
  }

  static bool better(const LeastSquaresFit& a, const LeastSquaresFit& b) {
    if (a.end == FitEnd::kUndefined) return false;
    if (a.cost < b.cost * (1 - kSame)) return true;
    return a.end == FitEnd::kConverged && b.end != FitEnd::kConverged && a.cost <= b.cost * (1 + kSame);
  }

  static Span<const double> view(const std::vector<double>& values) { return {values.data(), values.size()}; }

  static void take_better(MultiStartFit& out, LeastSquaresFit fit) {
    out.evaluation_count += fit.evaluation_count;
    if (better(fit, out.fit)) out.fit = std::move(fit);
  }

  bool any_below(double cost) const {
    return std::any_of(points_.begin(), points_.end(),
                       [&](const Candidate& point) { return point.cost < cost * (1 - kSame); });
  }

  /// Adds points until `count` were tried; those where the residuals are not defined are left out.
  void add_points(std::size_t count) {
    for (; tried_ < count; ++tried_) {
      Candidate point{point_at(tried_), HUGE_VAL};
      if (solve_linear(point)) points_.push_back(std::move(point));
    }
  }

  /// Point 0 is the start.
  std::vector<double> point_at(std::size_t index) const {
    std::vector<double> x(start_.begin(), start_.end());
    for (std::size_t j = 0; j < x.size(); ++j) {
      const std::uint64_t counter = 3 * (index * x.size() + j);
      if (index > 0 && starts_.linear[j] == 0) x[j] = coordinate(j, counter, index % 2 == 0);
      x[j] = std::clamp(x[j], params_.low[j], params_.high[j]);
    }
    return x;
  }

  /// Between finite bounds, or within orders of magnitude of the start.
  double coordinate(std::size_t j, std::uint64_t counter, bool near_start) const {
    constexpr double kFinite = 1e9, kWideRatio = 100, kDecades = 4, kFlipped = 0.15;
    const double low = params_.low[j], high = params_.high[j], at = random_unit(kSeed, counter);
    if (low > -kFinite && high < kFinite && !near_start) {
      if (low > 0 && high / low > kWideRatio) return low * std::pow(high / low, at);
      return low + at * (high - low);
    }
    const double decades = kDecades * (2 * at - 1) * random_unit(kSeed, counter + 1);
    const double size = std::pow(10.0, decades) * (start_[j] == 0 ? 1 : start_[j]);
    return random_unit(kSeed, counter + 2) < kFlipped ? -size : size;
  }

  /// Solves for the linear parameters of a point and sets its cost. Returns false where the residuals are not defined.
  bool solve_linear(Candidate& point) {
    const std::size_t n = problem_.parameter_count;
    std::vector<double> residuals, jacobian;
    if (!evaluate(point, residuals, jacobian)) return false;
    if (std::none_of(starts_.linear.begin(), starts_.linear.end(), [](auto is) { return is != 0; }))
      return true;
    const auto linear = linearize({residuals.data(), residuals.size()}, {jacobian.data(), jacobian.size()},
                                  Loss::kLinear, 1, ctx_);
    if (!linear) return false;
    std::vector<double> low(n, 0.0), high(n, 0.0);
    for (std::size_t j = 0; j < n; ++j) {
      if (starts_.linear[j] == 0) continue;
      low[j] = std::min(0.0, params_.low[j] - point.x[j]);
      high[j] = std::max(0.0, params_.high[j] - point.x[j]);
    }
    const BoundedStep step = bounded_step({{linear->triangle.data(), n * n},
                                           {linear->right_side.data(), n},
                                           {low.data(), n},
                                           {high.data(), n},
                                           0});
    Candidate solved = point;
    for (std::size_t j = 0; j < n; ++j)
      solved.x[j] = std::clamp(point.x[j] + step.s[j], params_.low[j], params_.high[j]);
    if (evaluate(solved, residuals, jacobian) && solved.cost < point.cost) point = std::move(solved);
    return true;
  }

  bool evaluate(Candidate& point, std::vector<double>& residuals, std::vector<double>& jacobian) {
    ctx_.checkpoint();
    ++evaluations_;
    residuals.resize(problem_.residual_count);
    jacobian.resize(problem_.residual_count * problem_.parameter_count);
    if (!problem_.evaluate({point.x.data(), point.x.size()}, {residuals.data(), residuals.size()},
                           {jacobian.data(), jacobian.size()}))
      return false;
    point.cost = cost_of({residuals.data(), residuals.size()}, params_.loss, params_.loss_scale);
    return std::isfinite(point.cost);
  }

  const LeastSquaresProblem& problem_;
  Span<const double> start_;
  const LeastSquaresParams& params_;
  const MultiStartParams& starts_;
  OpContext& ctx_;
  std::vector<Candidate> points_;
  std::size_t tried_ = 0, evaluations_ = 0;
};

}  // namespace

MultiStartFit fit_from_many_starts(const LeastSquaresProblem& problem, Span<const double> start,
                                   const LeastSquaresParams& params, const MultiStartParams& starts,
                                   OpContext& ctx) {
  require(starts.linear.size() == problem.parameter_count, "every parameter is linear or not");
  return Starts(problem, start, params, starts, ctx).run();
}

}  // namespace pc
