#include "ops/lad/leaf_inclinations.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/lad/projection_function.h"

namespace pc {

namespace {

constexpr double kPi = std::numbers::pi;
/// Inclinations at which shares are evaluated.
constexpr std::size_t kPerClass = 10, kFine = kInclinationClasses * kPerClass;
constexpr int kAzimuths = 64;

double inclination_of(std::size_t fine) { return (static_cast<double>(fine) + 0.5) * (kPi / 2) / kFine; }

/// Of the azimuths x: share with |a + b cos x| >= limit.
double detected_share(double a, double b, double limit) {
  if (!(b > 0)) return std::abs(a) >= limit ? 1 : 0;
  const auto share_above = [&](double c) { return std::acos(std::clamp(c, -1.0, 1.0)) / kPi; };
  return share_above((limit - a) / b) + 1 - share_above((-limit - a) / b);
}

/// Mean |a + b cos x| where it is at least `limit`; 0 if it never is.
double detected_cosine(double a, double b, double limit) {
  double sum = 0;
  int count = 0;
  for (int k = 0; k < kAzimuths; ++k) {
    const double cosine = std::abs(a + b * std::cos(kPi * (k + 0.5) / kAzimuths));
    if (cosine >= limit) sum += cosine, ++count;
  }
  return count > 0 ? sum / count : 0;
}

/// Density of a Beta distribution at the fine steps, their sum is 1.
std::vector<double> beta_density(double mean, double concentration) {
  const double p = mean * concentration, q = (1 - mean) * concentration;
  std::vector<double> out(kFine);
  double most = -HUGE_VAL, sum = 0;
  for (std::size_t i = 0; i < kFine; ++i) {
    const double b = (static_cast<double>(i) + 0.5) / kFine;
    out[i] = (p - 1) * std::log(b) + (q - 1) * std::log1p(-b);
    most = std::max(most, out[i]);
  }
  for (double& one : out) sum += one = std::exp(one - most);
  for (double& one : out) one /= sum;
  return out;
}

double total(const ByInclination& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

/// Likelihood of what views saw, for Beta distributions.
class BetaFit {
 public:
  BetaFit(const std::vector<InclinationView>& views, OpContext& ctx) : views_(views), ctx_(ctx) {
    for (const InclinationView& view : views) {
      whole_ += total(view.area);
      std::vector<double> share(kFine);
      for (std::size_t i = 0; i < kFine; ++i) {
        const double t = inclination_of(i);
        share[i] = detected_share(std::cos(view.zenith) * std::cos(t), std::sin(view.zenith) * std::sin(t),
                                  view.least_cosine);
      }
      detected_.push_back(std::move(share));
    }
  }

  const std::vector<double>& detected(std::size_t view) const { return detected_[view]; }

  /// The density of the greatest likelihood.
  std::vector<double> best() const {
    Shape best{0.5, 4};
    double most = -HUGE_VAL;
    const auto look = [&](const Shape& one) {
      const double found = likelihood(one);
      if (found > most) return most = found, best = one, true;
      return false;
    };
    for (int i = 0; i < kMeans; ++i)
      for (int j = 0; j < kConcentrations; ++j)
        look({kLeastMean + (1 - 2 * kLeastMean) * i / (kMeans - 1),
              kLeastConcentration * std::pow(kMostConcentration / kLeastConcentration,
                                             static_cast<double>(j) / (kConcentrations - 1))});
    double step = 1.0 / kMeans, factor = 1.2;
    for (int round = 0; round < kRounds; ++round) {
      const Shape at = best;
      bool better = false;
      for (const int i : {-1, 0, 1})
        for (const int j : {-1, 0, 1})
          better = look({std::clamp(at.mean + i * step, kLeastMean / 2, 1 - kLeastMean / 2),
                         std::clamp(at.concentration * std::pow(factor, j), kLeastConcentration,
                                    kMostConcentration)}) ||
                   better;
      if (!better) step /= 2, factor = std::sqrt(factor);
    }
    return beta_density(best.mean, best.concentration);
  }

 private:
  struct Shape {
    double mean, concentration;  // the mean as a part of 90 degrees
  };
  static constexpr int kMeans = 24, kConcentrations = 20, kRounds = 16;
  static constexpr double kLeastMean = 0.04, kLeastConcentration = 2, kMostConcentration = 60;
  static constexpr double kLeastShare = 1e-12;

  double likelihood(const Shape& shape) const {
    ctx_.checkpoint();
    if (shape.mean * shape.concentration < 1 || (1 - shape.mean) * shape.concentration < 1) return -HUGE_VAL;
    const std::vector<double> density = beta_density(shape.mean, shape.concentration);
    double sum = 0;
    for (std::size_t v = 0; v < views_.size(); ++v) {
      double all = 0;
      ByInclination of{};
      for (std::size_t i = 0; i < kFine; ++i) of[i / kPerClass] += density[i] * detected_[v][i];
      for (const double one : of) all += one;
      for (std::size_t k = 0; k < kInclinationClasses; ++k) {
        if (views_[v].area[k] > 0)
          sum += views_[v].area[k] / whole_ *
                 std::log(std::max(of[k], kLeastShare) / std::max(all, kLeastShare));
      }
    }
    return sum;
  }

  const std::vector<InclinationView>& views_;
  OpContext& ctx_;
  double whole_ = 0;
  std::vector<std::vector<double>> detected_;
};

/// Means over the classes, each of them weighed by `within`.
ViewOfClasses classes_of(const InclinationView& view, const std::vector<double>& detected,
                         const std::vector<double>& within) {
  ViewOfClasses out{};
  for (std::size_t i = 0; i < kFine; ++i) {
    const std::size_t k = i / kPerClass;
    const double t = inclination_of(i), share = within[i] * detected[i];
    out.detected[k] += share;
    out.projection[k] += within[i] * mean_azimuth_projection(view.zenith, t);
    out.squared[k] += within[i] * mean_azimuth_projection_squared(view.zenith, t);
    out.cosine[k] += share * detected_cosine(std::cos(view.zenith) * std::cos(t),
                                             std::sin(view.zenith) * std::sin(t), view.least_cosine);
  }
  for (std::size_t k = 0; k < kInclinationClasses; ++k)
    if (out.detected[k] > 0) out.cosine[k] /= out.detected[k];
  return out;
}

/// Views that detect less of all leaves than this say nothing of them.
constexpr double kLeastDetected = 0.02;
constexpr int kRoundsOfAll = 200, kRoundsOfPart = 20;

/// One step of EM: `seen` by class and the exposure of each class, with `weight` of all exposure as if seen with shares `prior`.
void update(ByInclination& shares, const ByInclination& seen, const ByInclination& exposure, double whole,
            double weight, const ByInclination& prior) {
  for (std::size_t k = 0; k < kInclinationClasses; ++k)
    shares[k] = (seen[k] + weight * whole * prior[k]) / (exposure[k] + weight * whole);
  const double sum = total(shares);
  for (double& share : shares) share /= sum;
}

}  // namespace

double weighed(const ByInclination& shares, const ByInclination& values) {
  double sum = 0;
  for (std::size_t k = 0; k < kInclinationClasses; ++k) sum += shares[k] * values[k];
  return sum;
}

std::vector<double> LeafInclinations::projections(const std::vector<double>& zeniths, OpContext& ctx) const {
  std::vector<double> out(zeniths.size());
  parallel_for(ctx, zeniths.size(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t z = begin; z < end; ++z)
      for (std::size_t i = 0; i < kFine; ++i)
        out[z] +=
            seen_.shares[i / kPerClass] * within_[i] * mean_azimuth_projection(zeniths[z], inclination_of(i));
  });
  return out;
}

double LeafInclinations::mean_squared_cosine() const {
  double sum = 0;
  for (std::size_t i = 0; i < kFine; ++i)
    sum += seen_.shares[i / kPerClass] * within_[i] * std::pow(std::cos(inclination_of(i)), 2);
  return sum;
}

double SeenInclinations::scatter(const ByInclination& values, double weight) const {
  const double mean = weighed(shares, values);
  if (!(mean > 0 && area > 0)) return 0;
  double sum = 0;
  for (std::size_t k = 0; k < kInclinationClasses; ++k) {
    const double off = values[k] / mean - 1, known = detected[k] + weight;
    sum += shares[k] * off * off * (detected[k] + weight * weight) / (known * known);
  }
  return sum / area;
}

double LeafInclinations::supposed(const ByInclination& values) const {
  const double mean = weighed(seen_.shares, values);
  if (!(mean > 0)) return 0;
  double sum = 0;
  for (std::size_t k = 0; k < kInclinationClasses; ++k)
    sum += seen_.shares[k] * (values[k] / mean - 1) * kBetaWeight / (seen_.detected[k] + kBetaWeight);
  return std::abs(sum);
}

LeafInclinations fit_inclinations(const std::vector<InclinationView>& views, OpContext& ctx) {
  double whole = 0;
  for (const InclinationView& view : views) {
    require(view.zenith >= 0 && view.zenith <= kPi / 2 && view.least_cosine >= 0 && view.least_cosine <= 1,
            "the zenith of a view must be 0 .. pi/2 and its least cosine 0 .. 1");
    for (const double area : view.area)
      require(std::isfinite(area) && area >= 0, "the areas that a view saw must be finite and not negative");
    whole += total(view.area);
  }
  const BetaFit fit(views, ctx);
  std::vector<double> density;
  if (whole > 0) {
    density = fit.best();
  } else {
    for (std::size_t i = 0; i < kFine; ++i)
      density.push_back(std::sin(inclination_of(i)) * (kPi / 2) / kFine);
  }
  LeafInclinations out;
  ByInclination beta{};
  for (std::size_t i = 0; i < kFine; ++i) beta[i / kPerClass] += density[i];
  for (std::size_t i = 0; i < kFine; ++i) {
    const double share = beta[i / kPerClass];
    out.within_.push_back(share > 0 ? density[i] / share : 1.0 / kPerClass);
  }
  out.seen_.shares = beta;
  for (double& share : out.seen_.shares) share /= total(beta);
  ByInclination seen{};
  std::vector<bool> tells(views.size());
  for (std::size_t v = 0; v < views.size(); ++v) {
    out.views_.push_back(classes_of(views[v], fit.detected(v), out.within_));
    tells[v] = weighed(beta, out.views_[v].detected) > kLeastDetected;
    for (std::size_t k = 0; tells[v] && k < kInclinationClasses; ++k) seen[k] += views[v].area[k];
  }
  if (!(total(seen) > 0)) return out;
  ByInclination exposure{};
  double exposed = 0;
  for (int round = 0; round < kRoundsOfAll; ++round) {
    exposure = {}, exposed = 0;
    for (std::size_t v = 0; v < views.size(); ++v) {
      if (!tells[v]) continue;
      const double area =
          total(views[v].area) / std::max(weighed(out.seen_.shares, out.views_[v].detected), 1e-9);
      for (std::size_t k = 0; k < kInclinationClasses; ++k) exposure[k] += area * out.views_[v].detected[k];
      exposed += area;
    }
    update(out.seen_.shares, seen, exposure, exposed, kBetaWeight, beta);
    ctx.checkpoint();
  }
  out.seen_.area = exposed;
  for (std::size_t k = 0; k < kInclinationClasses; ++k) {
    out.seen_.detected[k] = exposure[k] / exposed;
    if (out.seen_.detected[k] < kHardlySeen) out.hardly_seen_ += out.seen_.shares[k];
  }
  return out;
}

SeenInclinations inclinations_of_part(const LeafInclinations& all, const ByInclination& area,
                                      const std::vector<std::pair<std::size_t, double>>& of_view,
                                      double weight) {
  SeenInclinations out{all.shares()};
  for (int round = 0; round < kRoundsOfPart; ++round) {
    ByInclination exposure{};
    double exposed = 0;
    for (const auto& [view, seen] : of_view) {
      const ByInclination& detected = all.views()[view].detected;
      const double from = seen / std::max(weighed(out.shares, detected), kLeastDetected);
      for (std::size_t k = 0; k < kInclinationClasses; ++k) exposure[k] += from * detected[k];
      exposed += from;
    }
    if (!(exposed > 0)) break;
    update(out.shares, area, exposure, exposed, weight, all.shares());
    out.area = exposed;
    for (std::size_t k = 0; k < kInclinationClasses; ++k) out.detected[k] = exposure[k] / exposed;
  }
  return out;
}

}  // namespace pc
