#include "ops/fit/profile_likelihood.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/fit/levenberg_marquardt.h"

namespace pc {

namespace {

/// The signed root of the likelihood ratio along one side of a parameter.
class Profile {
 public:
  Profile(const ProfiledFit& of, std::size_t j, OpContext& ctx)
      : of_(of), j_(j), ctx_(ctx), params_(of.params), x_(of.fit.x) {}

  /// sqrt((sum of squares with the parameter at `value`, less the minimum) / variance); NaN if the fit fails.
  double at(double value) {
    params_.low[j_] = params_.high[j_] = value;
    x_[j_] = value;
    const LeastSquaresFit fit = levenberg_marquardt(of_.problem, {x_.data(), x_.size()}, params_, ctx_);
    if (fit.end != FitEnd::kConverged) return std::nan("");
    x_ = fit.x;  // the next value is close
    return std::sqrt(std::max(0.0, fit.cost - of_.fit.cost) / of_.variance);
  }

 private:
  const ProfiledFit& of_;
  std::size_t j_;
  OpContext& ctx_;
  LeastSquaresParams params_;
  std::vector<double> x_;
};

}  // namespace

double profile_limit(const ProfiledFit& of, std::size_t j, int side, double t, OpContext& ctx) {
  constexpr double kPrecise = 1e-7, kFarthest = 1e6;
  constexpr int kRounds = 60;
  const double best = of.fit.x[j], unit = of.std_errors[j];
  if (!(unit > 0) || !(of.variance > 0)) return std::nan("");
  const double bound = side < 0 ? of.params.low[j] : of.params.high[j];
  Profile profile(of, j, ctx);
  double inner = best, at_inner = 0, outer = best, at_outer = 0;
  for (double reach = t; at_outer < t; reach *= 2) {
    if (reach > kFarthest) return std::nan("");
    inner = outer;
    at_inner = at_outer;
    outer = best + side * reach * unit;
    const bool beyond = side < 0 ? outer <= bound : outer >= bound;
    if (beyond) outer = bound;
    at_outer = profile.at(outer);
    if (std::isnan(at_outer)) return at_outer;
    if (beyond && at_outer < t) return bound;
  }
  for (int round = 0; round < kRounds && std::abs(at_outer - t) > kPrecise * t; ++round) {
    const double part = std::clamp((t - at_inner) / (at_outer - at_inner), 0.05, 0.95);
    const double middle = inner + part * (outer - inner);
    const double at_middle = profile.at(middle);
    if (std::isnan(at_middle)) return at_middle;
    if (std::abs(at_middle - t) <= kPrecise * t) return middle;
    (at_middle < t ? inner : outer) = middle;
    (at_middle < t ? at_inner : at_outer) = at_middle;
  }
  return outer;
}

}  // namespace pc
