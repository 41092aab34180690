#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/memory.h"
#include "core/nth_smallest.h"
#include "core/parallel.h"
#include "ops/lad/occlusion_kriging.h"

namespace pc {

namespace {

constexpr std::size_t kLags = 10, kFewestPairs = 20, kFewestLags = 3, kSpacingDonors = 200;
constexpr double kLeastGamma = 1e-9;

/// Lower triangle of a symmetric matrix, row after row; becomes its Cholesky factor.
class Triangle {
 public:
  explicit Triangle(std::size_t n) : n_(n), values_(n * (n + 1) / 2) {}
  double* row(std::size_t i) { return values_.data() + i * (i + 1) / 2; }
  const double* row(std::size_t i) const { return values_.data() + i * (i + 1) / 2; }

  /// False if the matrix is not positive definite. One row after the other: the same bits every time.
  bool factor(OpContext& ctx) {
    for (std::size_t i = 0; i < n_; ++i) {
      if (i % 16 == 0) ctx.checkpoint();
      double* const a = row(i);
      for (std::size_t j = 0; j < i; ++j) a[j] = (a[j] - product(a, row(j), j)) / row(j)[j];
      const double pivot = a[i] - product(a, a, i);
      if (!(pivot > 0)) return false;
      a[i] = std::sqrt(pivot);
    }
    return true;
  }
  /// Solves with both factors, in place.
  void solve(std::vector<double>& x) const {
    for (std::size_t i = 0; i < n_; ++i) x[i] = (x[i] - product(row(i), x.data(), i)) / row(i)[i];
    for (std::size_t i = n_; i-- > 0;) {
      x[i] /= row(i)[i];
      for (std::size_t j = 0; j < i; ++j) x[j] -= row(i)[j] * x[i];
    }
  }

 private:
  /// Eight sums side by side: the additions do not wait for each other.
  static double product(const double* a, const double* b, std::size_t n) {
    double sums[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    std::size_t k = 0;
    for (; k + 8 <= n; k += 8) {
      for (std::size_t lane = 0; lane < 8; ++lane) sums[lane] += a[k + lane] * b[k + lane];
    }
    double sum = 0;
    for (; k < n; ++k) sum += a[k] * b[k];
    for (const double part : sums) sum += part;
    return sum;
  }
  std::size_t n_;
  BulkVector<double> values_;
};

/// Median distance of the first donors to their nearest neighbour.
double spacing_of(const std::vector<KrigingDonor>& donors, double otherwise) {
  std::vector<double> nearest;
  for (std::size_t i = 0; i < std::min(kSpacingDonors, donors.size()); ++i) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < donors.size(); ++j) {
      const double d = squared_distance(donors[i].place, donors[j].place);
      if (d > 0) least = std::min(least, d);
    }
    if (std::isfinite(least)) nearest.push_back(std::sqrt(least));
  }
  if (nearest.empty()) return otherwise;
  return nth_smallest(nearest.data(), nearest.size(), nearest.size() / 2);
}

/// A lag of the empirical variogram.
struct Lag {
  double distance = 0, gamma = 0, pairs = 0;
};

std::vector<Lag> lags_of(const std::vector<KrigingDonor>& donors, double unit, OpContext& ctx) {
  std::vector<Lag> lags(kLags);
  const double first = unit * (1 - 1e-9), width = 5 * unit / kLags;
  double error = 0;
  for (std::size_t i = 0; i < donors.size(); ++i) {
    if (i % 64 == 0) ctx.checkpoint();
    error += donors[i].variance / static_cast<double>(donors.size());
    for (std::size_t j = 0; j < i; ++j) {
      const double h = std::sqrt(squared_distance(donors[i].place, donors[j].place));
      const double at = (h - first) / width;
      if (!(at >= 0 && at < kLags)) continue;
      const double difference = donors[i].value - donors[j].value;
      Lag& lag = lags[static_cast<std::size_t>(at)];
      lag.distance += h;
      lag.gamma += 0.5 * difference * difference;
      lag.pairs += 1;
    }
  }
  std::erase_if(lags, [](const Lag& lag) { return lag.pairs < kFewestPairs; });
  for (Lag& lag : lags) {
    lag.distance /= lag.pairs;
    lag.gamma = std::max(lag.gamma / lag.pairs - error, kLeastGamma);
  }
  return lags;
}

/// Nugget and rise that fit best for a range, neither negative, and the weighted squares that remain.
struct LinearFit {
  double nugget, rise, residual;
};

LinearFit fit_at(const std::vector<Lag>& lags, double range) {
  double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
  for (const Lag& lag : lags) {
    const double x = 1 - std::exp(-3 * lag.distance / range);
    w += lag.pairs, wx += lag.pairs * x, wxx += lag.pairs * x * x;
    wy += lag.pairs * lag.gamma, wxy += lag.pairs * x * lag.gamma;
  }
  const auto residual = [&](double nugget, double rise) {
    double sum = 0;
    for (const Lag& lag : lags) {
      const double miss = nugget + rise * (1 - std::exp(-3 * lag.distance / range)) - lag.gamma;
      sum += lag.pairs * miss * miss;
    }
    return LinearFit{nugget, rise, sum};
  };
  const double determinant = w * wxx - wx * wx;
  if (determinant > 1e-12 * w * wxx) {
    const double rise = (w * wxy - wx * wy) / determinant, nugget = (wy - rise * wx) / w;
    if (rise >= 0 && nugget >= 0) return residual(nugget, rise);
  }
  const LinearFit flat = residual(wy / w, 0), steep = residual(0, wxy / wxx);
  return flat.residual <= steep.residual ? flat : steep;
}

}  // namespace

std::optional<Variogram> fit_variogram(const std::vector<KrigingDonor>& donors, double voxel_side_m,
                                       OpContext& ctx) {
  const double unit = spacing_of(donors, voxel_side_m);
  const std::vector<Lag> lags = lags_of(donors, unit, ctx);
  if (lags.size() < kFewestLags) return std::nullopt;
  constexpr int kSteps = 400;  // ranges from half a lag unit to 20 times the longest lag, 1.4 % apart
  double best_range = 0;
  LinearFit best{0, 0, std::numeric_limits<double>::infinity()};
  for (int step = 0; step <= kSteps; ++step) {
    const double range = 0.5 * unit * std::pow(240.0, static_cast<double>(step) / kSteps);
    const LinearFit fit = fit_at(lags, range);
    if (fit.residual < best.residual) best = fit, best_range = range;
  }
  if (!(best.rise > 0)) return std::nullopt;
  return Variogram{best.nugget, best.nugget + best.rise, best_range};
}

double OrdinaryKriging::covariance(double squared_distance) const {
  const double h = std::sqrt(squared_distance);
  return (variogram_.sill - variogram_.nugget) * std::exp(-3 * h / variogram_.range_m);
}

OrdinaryKriging::OrdinaryKriging(std::vector<KrigingDonor> donors, const Variogram& variogram, OpContext& ctx)
    : donors_(std::move(donors)), variogram_(variogram) {
  const std::size_t n = donors_.size();
  Triangle matrix(n);
  parallel_for(ctx, n, 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t j = 0; j < i; ++j)
        matrix.row(i)[j] = covariance(squared_distance(donors_[i].place, donors_[j].place));
      matrix.row(i)[i] = variogram_.sill + donors_[i].variance;
    }
  });
  solvable_ = n > 0 && matrix.factor(ctx);
  if (!solvable_) return;
  by_one_.assign(n, 1);
  by_value_.resize(n);
  for (std::size_t i = 0; i < n; ++i) by_value_[i] = donors_[i].value;
  matrix.solve(by_one_);
  matrix.solve(by_value_);
  for (std::size_t i = 0; i < n; ++i) sum_one_ += by_one_[i], sum_value_ += by_value_[i];
  solvable_ = sum_one_ > 0;
}

/// w = (C + V)^-1 (c - m 1) with 1 w = 1, so the estimate w z needs only the two solutions.
double OrdinaryKriging::estimate(const Vec3d& place) const {
  double value = 0, one = 0;
  for (std::size_t i = 0; i < donors_.size(); ++i) {
    const double c = covariance(squared_distance(place, donors_[i].place));
    value += c * by_value_[i];
    one += c * by_one_[i];
  }
  return value + (1 - one) / sum_one_ * sum_value_;
}

}  // namespace pc
