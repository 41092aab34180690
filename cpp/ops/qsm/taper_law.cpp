#include "ops/qsm/taper_law.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "ops/qsm/radius_evidence.h"
#include "ops/qsm/shoot_tree.h"
#include "ops/qsm/taper_correction.h"
#include "ops/qsm/taper_posterior.h"
#include "ops/qsm/taper_spread.h"

namespace pc {

namespace {

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

constexpr std::uint32_t kStemLaw = 0, kBranchLaw = 1, kClusterLaw = 2;

/// The law of each cylinder, and the share of the length that is clusters: pieces wider than a twig whose points lie on no
/// cylinder. Where they are most of the tree they are leaves, and the law of its branches does not hold for them.
std::vector<std::uint32_t> laws_of(const std::vector<QsmCylinder>& cylinders,
                                   const std::vector<MeasuredRadius>& measured, double& cluster_share) {
  std::vector<std::uint32_t> out(cylinders.size());
  double length = 0, total = 0;
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    const QsmCylinder& c = cylinders[i];
    const bool seen = std::isfinite(measured[i].variance) && c.surf_cov >= kClusterSeen;
    const bool is_cluster = !seen && c.radius > kClusterWidth;
    total += measured[i].length_m;
    if (is_cluster) length += measured[i].length_m;
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
double weight_in_law(const MeasuredRadius& m) {
  constexpr double kTypical = 4;  // square of the radius over the standard deviation of its noise
  const double square = kTypical * m.square_noise;
  const double variance = m.is_thin() ? m.square_variance(square) / (4 * square * square) : m.variance;
  return std::sqrt(m.length_m / (variance + 0.02));
}

/// 0 for the general law; grows with the square of the distance to it.
double unlikeliness(const TaperLaw& law) {
  const double power = (law.power - kGeneralLaw.power) / kPriorPower;
  const double scale = std::log(law.scale_m / kGeneralLaw.scale_m) / kPriorLogScale;
  return 0.5 * (power * power + scale * scale);
}

/// The law of the trusted cylinders of the stem, or of all branches.
TaperLaw find_law(const std::vector<QsmCylinder>& cylinders, bool stem,
                  const std::vector<MeasuredRadius>& measured, const std::vector<double>& growth,
                  double twig) {
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
        const MeasuredRadius& m = measured[rows[k]];
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
    off.push_back({(seen.mean - law) * (seen.mean - law), seen.variance, measured[row].length_m});
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
      c.radius = std::max(std::exp(radius[i]), std::max(kLeastWoodRadius, twig));
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

/// An oval stem that is seen from one side looks too thick or too thin all along.
SharedError oval_error(Span<const StretchRadius> stretches) {
  SharedError out{1, {}};
  for (const StretchRadius& stretch : stretches)
    out.share.push_back(std::isfinite(stretch.radius_m) ? stretch.oval_m / stretch.radius_m : 0);
  return out;
}

}  // namespace

TaperLaws apply_taper_law(std::vector<QsmCylinder>& cylinders, const std::vector<QsmShoot>& shoots,
                          const TaperEvidence& evidence) {
  const double noise_m = surface_noise(cylinders, evidence);
  const std::vector<MeasuredRadius> measured = measured_radii(cylinders, evidence, noise_m);
  TaperPrior prior{{}, {}, growth_lengths(cylinders), {}};
  for (std::size_t i = 0; i < measured.size(); ++i) prior.growth_m[i] -= 0.5 * measured[i].length_m;
  const double twig = evidence.twig_radius_m;
  TaperLaws laws{find_law(cylinders, true, measured, prior.growth_m, twig),
                 find_law(cylinders, false, measured, prior.growth_m, twig),
                 0,
                 noise_m,
                 sharp_share(cylinders, evidence),
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
    cylinders[i].radius = std::max(kLeastWoodRadius, std::exp(prior.log_radius[i] + found[i].mean));
    cylinders[i].radius_se = cylinders[i].radius * std::sqrt(found[i].variance);
  }
  share_area(cylinders);
  bound(cylinders, shoots, seen, twig);
  laws.errors = errors_of(std::move(posterior), prior);
  if (!evidence.stretches.empty()) laws.errors.shared.push_back(oval_error(evidence.stretches));
  return laws;
}

}  // namespace pc
