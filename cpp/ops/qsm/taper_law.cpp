#include "ops/qsm/taper_law.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "ops/qsm/shoot_tree.h"
#include "ops/qsm/taper_correction.h"
#include "ops/qsm/taper_posterior.h"
#include "ops/qsm/taper_spread.h"

namespace pc {

namespace {

constexpr double kLeastRadius = 0.001;
/// Relative error per scatter / radius: 1, and twice that from here on: a bundle of twigs looks like one scattered branch.
constexpr double kClearScatter = 0.15;
constexpr double kMostScatter = 0.35;
constexpr double
    kHalfSeen = 0.65,
    kAllSeen = 0.9,
    kWholeGain = 0.7;  // coverage between which the error of scatter falls: no bundle covers a whole surface
constexpr double kTrustedError = 0.30, kTrustedArc = 0.3;
constexpr double kSeenSurface = 0.4,
                 kLeastSeen = 0.05;  // a cylinder that its points do not cover may be another one
constexpr std::uint32_t kFewestTrusted = 5;
constexpr TaperLaw kGeneralLaw{0.3, 0.5, 0.4, 0};
constexpr double kGeneralError = 0.4;  // of ln(radius), of the general law's level
constexpr double kMedianVariance =
    1.5707963267948966;  // of a median over that of a mean of normal errors: pi / 2
constexpr double kPriorCylinders = 1.5, kPriorPower = 0.12,
                 kPriorLogScale = 1.5;  // what a law far from the general one costs, and how far that is
constexpr double kLeastSpread = 0.10;
constexpr double kAreaSpread = 0.3;  // of ln(radius) about the rule of equal cross-sections
constexpr double kClusterWidth = 0.04, kClusterSeen = 0.15;  // metres; share of the surface

/// Of scanner noise: in the plane across a thin cylinder over that across the surface of a thick one, as variances. Noise of the
/// range on a cylinder seen from one side: 1 over the mean of cos^2 of the angle of incidence = 1.5; the same in all
/// directions: 2; across the surface: 1.
constexpr double kThinNoise = 1.5, kThinNoiseError = 0.3;
constexpr double kMostThinNoise = 1.5;  // of a thin cylinder's own scatter: more is a bundle
constexpr double kNoiseLeast = 0.03, kNoiseMost = 0.3,
                 kNoiseRadius = 0.05;  // scatter / radius, metres: where noise shows
constexpr double kThinRadius = 0.25;   // scatters of a thick surface

/// A measured radius as evidence: logarithm and its variance; infinite where there is none.
struct Measured {
  double log_radius = 0;
  double variance = std::numeric_limits<double>::infinity();
  double length = 0;
  bool trusted = false;
  /// Of a cylinder of about the scatter of its points: the square of the radius, which noise may make negative, its standard
  /// deviation at radius 0 and what that grows by with the square; 0 for others.
  double square = 0, square_noise = 0, square_slope = 0;
  bool is_thin() const { return square_noise > 0; }
  double square_variance(double of) const { return square_noise * square_noise + square_slope * of; }
};

double weighted_median(std::vector<std::pair<double, double>>& values) {
  std::sort(values.begin(), values.end());
  double total = 0, sum = 0;
  for (const auto& [value, weight] : values) total += weight;
  for (const auto& [value, weight] : values) {
    sum += weight;
    if (sum >= total / 2) return value;
  }
  return 0;
}

/// Scatter of points about surfaces of branches that are thick against it; 0 where too few show it.
double surface_noise(const std::vector<QsmCylinder>& cylinders, const TaperEvidence& evidence) {
  std::vector<std::pair<double, double>> seen;
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    const QsmCylinder& c = cylinders[i];
    const double scatter = evidence.noise_m[i] / c.radius;
    if (c.radius < kNoiseRadius && scatter >= kNoiseLeast && scatter <= kNoiseMost &&
        c.surf_cov >= kSeenSurface)
      seen.emplace_back(evidence.noise_m[i], c.length_m());
  }
  return seen.size() < kFewestTrusted ? 0 : weighted_median(seen);
}

std::vector<Measured> evidence_of(const std::vector<QsmCylinder>& cylinders, const TaperEvidence& evidence,
                                  double surface_noise_m) {
  std::vector<Measured> out(cylinders.size());
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    const QsmCylinder& c = cylinders[i];
    out[i].length = c.length_m();
    const double noise = evidence.noise_m[i];
    if (!std::isfinite(c.radius_se) || !std::isfinite(noise)) continue;
    const double scatter = noise / c.radius;
    const double arc = std::clamp(evidence.arc_cov[i], 0.05, 1.0);
    if (scatter > kMostScatter) continue;
    const double whole = std::clamp((c.surf_cov - kHalfSeen) / (kAllSeen - kHalfSeen), 0.0, 1.0);
    // what scatters no more than surfaces do is no bundle if it is seen all around
    const bool clean = noise * noise < kMostThinNoise * surface_noise_m * surface_noise_m;
    const double unclear = scatter * (1 + scatter * scatter / (kClearScatter * kClearScatter)) *
                           (1 - (clean ? 1 : kWholeGain) * whole);
    const double unbiased = std::max(kLeastRadius, c.radius - noise * noise / (2 * c.radius));
    const double error = std::hypot(c.radius_se / c.radius, unclear) / std::sqrt(arc) /
                         std::clamp(c.surf_cov / kSeenSurface, kLeastSeen, 1.0) /
                         std::min(1.0, arc / kTrustedArc);
    out[i].log_radius = std::log(unbiased);
    out[i].variance = error * error + 0.03 * 0.03;
    out[i].trusted = error < kTrustedError && arc >= kTrustedArc;
  }
  return out;
}

/// Radii of cylinders that their points scatter about as far as they are thick: the mean square of the distances from the axis
/// is that of the radius and of the noise.
void add_thin(std::vector<Measured>& measured, const std::vector<QsmCylinder>& cylinders,
              const TaperEvidence& evidence, double noise) {
  const double variance = noise * noise;
  if (!(noise > 0)) return;
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    const QsmCylinder& c = cylinders[i];
    const double own = evidence.noise_m[i];
    if (std::isfinite(measured[i].variance) || !std::isfinite(own) ||
        !(own * own < kMostThinNoise * variance))
      continue;
    const double across = kThinNoise * variance;
    const double count = std::max(1.0, static_cast<double>(evidence.point_count[i]));
    Measured& m = measured[i];
    m.square = c.radius * c.radius + own * own - across;
    m.square_noise = std::hypot(across * std::sqrt(2 / count), kThinNoiseError * variance);
    m.square_slope = 4 * across / count;
    const double least = kThinRadius * noise;  // what is thinner is not told from nothing
    m.log_radius = 0.5 * std::log(std::max(m.square, least * least));
  }
}

constexpr std::uint32_t kStemLaw = 0, kBranchLaw = 1, kClusterLaw = 2;

/// The law of each cylinder, and the share of the length that is clusters: pieces wider than a twig whose points lie on no
/// cylinder. Where they are most of the tree they are leaves, and the law of its branches does not hold for them.
std::vector<std::uint32_t> laws_of(const std::vector<QsmCylinder>& cylinders,
                                   const std::vector<Measured>& measured, double& cluster_share) {
  std::vector<std::uint32_t> out(cylinders.size());
  double length = 0, total = 0;
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    const QsmCylinder& c = cylinders[i];
    const bool seen = std::isfinite(measured[i].variance) && c.surf_cov >= kClusterSeen;
    const bool is_cluster = !seen && c.radius > kClusterWidth;
    total += measured[i].length;
    if (is_cluster) length += measured[i].length;
    out[i] = c.rank == 0 ? kStemLaw : is_cluster ? kClusterLaw : kBranchLaw;
  }
  cluster_share = total > 0 ? length / total : 0;
  for (std::uint32_t& law : out)
    if (law == kClusterLaw && cluster_share < kMostClusters) law = kBranchLaw;
  return out;
}

double law_log(const TaperLaw& law, double growth, double twig) {
  return std::log(twig) + law.power * std::log1p(growth / law.scale_m);
}

/// Does not depend on the measured radius: that would prefer what noise made thicker.
double weight_in_law(const Measured& m) {
  constexpr double kTypical = 4;  // square of the radius over the standard deviation of its noise
  const double square = kTypical * m.square_noise;
  const double variance = m.is_thin() ? m.square_variance(square) / (4 * square * square) : m.variance;
  return std::sqrt(m.length / (variance + 0.02));
}

/// What the law's cylinder is told by its points.
Belief belief_of(const Measured& m, double law_log) {
  if (!m.is_thin()) return {m.log_radius, m.variance};
  // linear in the measured square: no bias
  const double square = std::max(std::exp(2 * law_log), kLeastRadius * kLeastRadius);
  return {0.5 * std::log(square) + (m.square - square) / (2 * square),
          m.square_variance(square) / (4 * square * square)};
}

/// 0 for the general law; grows with the square of the distance to it.
double unlikeliness(const TaperLaw& law) {
  const double power = (law.power - kGeneralLaw.power) / kPriorPower;
  const double scale = std::log(law.scale_m / kGeneralLaw.scale_m) / kPriorLogScale;
  return 0.5 * (power * power + scale * scale);
}

/// The law of the trusted cylinders of the stem, or of all branches.
TaperLaw find_law(const std::vector<QsmCylinder>& cylinders, bool stem, const std::vector<Measured>& measured,
                  const std::vector<double>& growth, double twig) {
  TaperLaw best = kGeneralLaw;
  std::vector<std::size_t> rows;
  std::size_t trusted = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if ((cylinders[i].rank == 0) != stem || !(measured[i].trusted || (measured[i].is_thin() && !stem)))
      continue;
    rows.push_back(i);
    trusted += measured[i].trusted ? 1 : 0;
  }
  if (rows.size() < kFewestTrusted) return best;
  const std::size_t stride = rows.size() / 4000 + 1;  // evenly spaced ones are enough
  double prior_weight = 0;
  for (std::size_t k = 0; k < rows.size(); k += stride)
    prior_weight = std::max(prior_weight, weight_in_law(measured[rows[k]]));
  double least = std::numeric_limits<double>::infinity();
  for (int p = 0; p <= 24; ++p) {
    for (int s = 0; s <= 40; ++s) {
      TaperLaw law{0.005 * std::exp(0.2 * s), 0.30 + 0.03 * p, 0, 0};
      double sum = kPriorCylinders * prior_weight * unlikeliness(law);
      for (std::size_t k = 0; k < rows.size(); k += stride) {
        const Measured& m = measured[rows[k]];
        sum += weight_in_law(m) * std::fabs(m.log_radius - law_log(law, growth[rows[k]], twig));
      }
      if (sum >= least) continue;
      least = sum;
      best = law;
    }
  }
  std::vector<LawDeviation> off;
  for (const std::size_t row : rows) {
    const double law = law_log(best, growth[row], twig);
    const Belief seen = belief_of(measured[row], law);
    off.push_back({(seen.mean - law) * (seen.mean - law), seen.variance, measured[row].length});
  }
  best.spread = taper_spread(off, kLeastSpread);
  best.trusted = static_cast<std::uint32_t>(trusted);
  return best;
}

/// What leaves a piece has no more cross-section together than the piece: children of which little is known shrink towards
/// that (log-normal evidence of spread kAreaSpread), measured ones hardly.
void share_area(std::vector<QsmCylinder>& cylinders) {
  const CylinderChildren children = cylinder_children(cylinders);
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    double area = 0;
    for (std::uint32_t k = children.first[i]; k < children.first[i + 1]; ++k) {
      const double radius = std::min(cylinders[children.child[k]].radius, cylinders[i].radius);
      area += radius * radius;
    }
    const double excess = 0.5 * std::log(area / (cylinders[i].radius * cylinders[i].radius));
    if (!(excess > 0)) continue;
    for (std::uint32_t k = children.first[i]; k < children.first[i + 1]; ++k) {
      QsmCylinder& child = cylinders[children.child[k]];
      const double error = child.radius_se / child.radius, variance = error * error;
      child.radius = std::min(child.radius, cylinders[i].radius) *
                     std::exp(-excess * variance / (variance + kAreaSpread * kAreaSpread));
      child.radius_se = error * child.radius;
    }
  }
}

/// Non-increasing logarithms along each shoot, weighted by precision and length, where what was not measured follows what was;
/// no branch above what carries it; nothing below the twig.
void bound(std::vector<QsmCylinder>& cylinders, const std::vector<QsmShoot>& shoots,
           const std::vector<Belief>& seen, double twig) {
  constexpr double kGuess = 1e-3;  // weight of what was not measured
  std::vector<double> radius, weight;
  for (const QsmShoot& shoot : shoots) {
    radius.clear();
    weight.clear();
    for (const std::int64_t id : shoot.cylinder_ids) {
      const QsmCylinder& c = cylinders[static_cast<std::size_t>(id)];
      const double error = c.radius_se / c.radius;
      radius.push_back(std::log(c.radius));
      const bool measured = std::isfinite(seen[static_cast<std::size_t>(id)].variance);
      weight.push_back((measured ? 1 : kGuess) * (c.length_m() + 1e-3) / (error * error));
    }
    non_increasing(radius, weight);
    for (std::size_t i = 0; i < radius.size(); ++i) {
      QsmCylinder& c = cylinders[static_cast<std::size_t>(shoot.cylinder_ids[i])];
      const double error = c.radius_se / c.radius;
      c.radius = std::max(std::exp(radius[i]), std::max(kLeastRadius, twig));
      if (c.parent_id >= 0)
        c.radius = std::min(c.radius, cylinders[static_cast<std::size_t>(c.parent_id)].radius);
      c.radius_se = error * c.radius;
    }
  }
}

RadiusErrors errors_of(TaperPosterior&& posterior, const TaperPrior& prior) {
  RadiusErrors out{std::move(posterior.follows), std::move(posterior.fresh), {}};
  for (std::uint32_t law = 0; law < posterior.level_information.size(); ++law) {
    const double information =
        1 / (kGeneralError * kGeneralError) + posterior.level_information[law] / kMedianVariance;
    SharedError level{1 / std::sqrt(information), std::vector<double>(prior.law_of.size(), 0)};
    for (std::size_t i = 0; i < prior.law_of.size(); ++i)
      if (prior.law_of[i] == law) level.share[i] = posterior.law_share[i];
    out.shared.push_back(std::move(level));
  }
  return out;
}

}  // namespace

TaperLaws apply_taper_law(std::vector<QsmCylinder>& cylinders, const std::vector<QsmShoot>& shoots,
                          const TaperEvidence& evidence) {
  const double noise = surface_noise(cylinders, evidence);
  std::vector<Measured> measured = evidence_of(cylinders, evidence, noise);
  add_thin(measured, cylinders, evidence, noise);
  TaperPrior prior{{}, {}, growth_lengths(cylinders), {}};
  for (std::size_t i = 0; i < measured.size(); ++i) prior.growth_m[i] -= 0.5 * measured[i].length;
  const double twig = evidence.twig_radius_m;
  TaperLaws laws{find_law(cylinders, true, measured, prior.growth_m, twig),
                 find_law(cylinders, false, measured, prior.growth_m, twig),
                 0,
                 {}};
  prior.law_of = laws_of(cylinders, measured, laws.cluster_share);
  std::vector<Belief> seen;
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    const TaperLaw& law = prior.law_of[i] == kStemLaw     ? laws.stem
                          : prior.law_of[i] == kBranchLaw ? laws.branches
                                                          : kGeneralLaw;
    prior.log_radius.push_back(law_log(law, prior.growth_m[i], twig));
    prior.spread.push_back(law.spread);
    if (prior.law_of[i] == kClusterLaw)
      seen.push_back({});
    else
      seen.push_back(belief_of(measured[i], prior.log_radius[i]));
  }
  TaperPosterior posterior = taper_posterior(cylinders, seen, prior);
  const std::vector<Belief>& found = posterior.deviation;
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    cylinders[i].radius = std::max(kLeastRadius, std::exp(prior.log_radius[i] + found[i].mean));
    cylinders[i].radius_se = cylinders[i].radius * std::sqrt(found[i].variance);
  }
  share_area(cylinders);
  bound(cylinders, shoots, seen, twig);
  laws.errors = errors_of(std::move(posterior), prior);
  return laws;
}

}  // namespace pc
