#include "ops/qsm/taper_law.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/qsm/shoot_tree.h"
#include "ops/qsm/taper_correction.h"

namespace pc {

namespace {

constexpr double kLeastRadius = 0.001;
constexpr double kScatterError =
    1.0;  // relative error per scatter / radius, where it stays below kMostScatter
constexpr double kMostScatter = 0.35;
constexpr double kTrustedError = 0.30, kTrustedArc = 0.3;
constexpr double kSeenSurface = 0.4,
                 kLeastSeen = 0.05;  // a cylinder that its points do not cover may be another one
constexpr std::uint32_t kFewestTrusted = 5;
constexpr double kGeneralPower = 0.6, kGeneralScale = 0.3, kGeneralSpread = 0.4;
constexpr double kLeastSpread = 0.10;
constexpr double kAxisReach = 3.0;  // metres along which ln(radius / law) stays alike
constexpr double kForkKeep = 0.8;   // of it that a branch inherits
constexpr double kStudent = 4;      // degrees of freedom
constexpr int kRounds = 3;

/// A measured radius as evidence: logarithm and its variance; infinite where there is none.
struct Measured {
  double log_radius = 0;
  double variance = std::numeric_limits<double>::infinity();
  double length = 0;
  bool trusted = false;
};

std::vector<Measured> evidence_of(const std::vector<QsmCylinder>& cylinders, const TaperEvidence& evidence) {
  std::vector<Measured> out(cylinders.size());
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    const QsmCylinder& c = cylinders[i];
    out[i].length = c.length_m();
    const double noise = evidence.noise_m[i];
    if (!std::isfinite(c.radius_se) || !std::isfinite(noise)) continue;
    const double scatter = noise / c.radius;
    const double arc = std::clamp(evidence.angular_cov[i], 0.05, 1.0);
    if (scatter > kMostScatter) continue;
    const double unbiased = std::max(kLeastRadius, c.radius - noise * noise / (2 * c.radius));
    const double error = std::hypot(c.radius_se / c.radius, kScatterError * scatter) / std::sqrt(arc) /
                         std::clamp(c.surf_cov / kSeenSurface, kLeastSeen, 1.0);
    out[i].log_radius = std::log(unbiased);
    out[i].variance = error * error + 0.03 * 0.03;
    out[i].trusted = error < kTrustedError && evidence.angular_cov[i] >= kTrustedArc;
  }
  return out;
}

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

double law_log(const TaperLaw& law, double growth, double twig) {
  return std::log(twig) + law.power * std::log1p(growth / law.scale_m);
}

/// The law of the trusted cylinders of the stem, or of all branches.
TaperLaw find_law(const std::vector<QsmCylinder>& cylinders, bool stem, const std::vector<Measured>& measured,
                  const std::vector<double>& growth, double twig) {
  TaperLaw best{kGeneralScale, kGeneralPower, kGeneralSpread, kGeneralSpread, 0};
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < measured.size(); ++i)
    if (measured[i].trusted && (cylinders[i].rank == 0) == stem) rows.push_back(i);
  if (rows.size() < kFewestTrusted) return best;
  const std::size_t stride = rows.size() / 4000 + 1;  // evenly spaced ones are enough
  double least = std::numeric_limits<double>::infinity();
  for (int p = 0; p <= 24; ++p) {
    for (int s = 0; s <= 40; ++s) {
      TaperLaw law{0.005 * std::exp(0.2 * s), 0.30 + 0.03 * p, 0, 0, 0};
      double sum = 0;
      for (std::size_t k = 0; k < rows.size(); k += stride) {
        const Measured& m = measured[rows[k]];
        const double weight = std::sqrt(m.length / (m.variance + 0.02));
        sum += weight * std::fabs(m.log_radius - law_log(law, growth[rows[k]], twig));
      }
      if (sum >= least) continue;
      least = sum;
      best = law;
    }
  }
  std::vector<std::pair<double, double>> off;
  for (const std::size_t row : rows)
    off.emplace_back(std::fabs(measured[row].log_radius - law_log(best, growth[row], twig)),
                     measured[row].length);
  best.spread = std::max(kLeastSpread, 1.4826 * weighted_median(off));
  best.trusted = static_cast<std::uint32_t>(rows.size());
  best.law_se = best.spread / std::sqrt(std::max(1.0, static_cast<double>(rows.size()) / 10));
  return best;
}

/// Mean and variance of a Gaussian.
struct Belief {
  double mean, variance;
};

Belief combine(const Belief& a, const Belief& b) {
  if (!std::isfinite(b.variance)) return a;
  if (!std::isfinite(a.variance)) return b;
  const double variance = 1 / (1 / a.variance + 1 / b.variance);
  return {variance * (a.mean / a.variance + b.mean / b.variance), variance};
}

/// How the deviation of a cylinder follows from that of its parent: keep * parent + noise.
struct Step {
  double keep, variance;
  bool branch;  ///< another shoot than its parent: it learns from the parent, and the parent nothing from it
};

/// Posterior of the deviation from the law at each cylinder.
std::vector<Belief> posterior(const std::vector<QsmCylinder>& cylinders, const std::vector<Belief>& seen,
                              const std::vector<double>& spread) {
  const std::size_t count = cylinders.size();
  std::vector<Step> step(count);
  std::vector<Belief> up(count), message(count, {0, std::numeric_limits<double>::infinity()});
  for (std::size_t i = 0; i < count; ++i) {
    const bool branch =
        cylinders[i].parent_id >= 0 &&
        cylinders[static_cast<std::size_t>(cylinders[i].parent_id)].shoot_id != cylinders[i].shoot_id;
    const bool other_law = branch && cylinders[static_cast<std::size_t>(cylinders[i].parent_id)].rank == 0;
    const double keep =
        other_law ? 0 : std::exp(-cylinders[i].length_m() / kAxisReach) * (branch ? kForkKeep : 1);
    step[i] = {keep, spread[i] * spread[i] * (1 - keep * keep) + 1e-8, branch};
  }
  // Up: what a cylinder and everything it carries say about it (without the prior).
  std::vector<Belief> above(count, {0, std::numeric_limits<double>::infinity()});
  for (std::size_t i = count; i-- > 0;) {
    up[i] = combine(seen[i], above[i]);
    if (cylinders[i].parent_id < 0 || step[i].branch || !std::isfinite(up[i].variance)) continue;
    message[i] = {up[i].mean / step[i].keep,
                  (up[i].variance + step[i].variance) / (step[i].keep * step[i].keep)};
    Belief& into = above[static_cast<std::size_t>(cylinders[i].parent_id)];
    into = combine(into, message[i]);
  }
  // Down: what the rest of the tree says.
  std::vector<Belief> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    Belief outside{0, spread[i] * spread[i]};
    if (cylinders[i].parent_id >= 0) {
      const Belief& parent = out[static_cast<std::size_t>(cylinders[i].parent_id)];
      Belief rest = parent;  // without what this cylinder told it
      if (std::isfinite(message[i].variance)) {
        const double precision = std::max(1 / parent.variance - 1 / message[i].variance, 1e-12);
        rest = {(parent.mean / parent.variance - message[i].mean / message[i].variance) / precision,
                1 / precision};
      }
      outside = {step[i].keep * rest.mean, step[i].keep * step[i].keep * rest.variance + step[i].variance};
    }
    out[i] = combine(outside, up[i]);
  }
  return out;
}

std::vector<Belief> robust_posterior(const std::vector<QsmCylinder>& cylinders,
                                     const std::vector<Measured>& measured,
                                     const std::vector<double>& expected, const std::vector<double>& spread) {
  std::vector<Belief> seen(cylinders.size()), found;
  std::vector<double> weight(cylinders.size(), 1);
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < seen.size(); ++i)
      seen[i] = {measured[i].log_radius - expected[i], measured[i].variance / weight[i]};
    found = posterior(cylinders, seen, spread);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (!std::isfinite(measured[i].variance)) continue;
      const double off = seen[i].mean - found[i].mean;
      weight[i] = (kStudent + 1) / (kStudent + off * off / measured[i].variance);
    }
  }
  return found;
}

/// Non-increasing logarithms along each shoot, weighted by precision and length; no branch above what carries it; nothing
/// below the twig.
void bound(std::vector<QsmCylinder>& cylinders, const std::vector<QsmShoot>& shoots, double twig) {
  std::vector<double> radius, weight;
  for (const QsmShoot& shoot : shoots) {
    radius.clear();
    weight.clear();
    for (const std::int64_t id : shoot.cylinder_ids) {
      const QsmCylinder& c = cylinders[static_cast<std::size_t>(id)];
      const double error = c.radius_se / c.radius;
      radius.push_back(std::log(c.radius));
      weight.push_back((c.length_m() + 1e-3) / (error * error));
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

}  // namespace

TaperLaws apply_taper_law(std::vector<QsmCylinder>& cylinders, const std::vector<QsmShoot>& shoots,
                          const TaperEvidence& evidence) {
  const std::vector<Measured> measured = evidence_of(cylinders, evidence);
  std::vector<double> growth = growth_lengths(cylinders);
  for (std::size_t i = 0; i < growth.size(); ++i) growth[i] -= 0.5 * measured[i].length;
  const TaperLaws laws{find_law(cylinders, true, measured, growth, evidence.twig_radius_m),
                       find_law(cylinders, false, measured, growth, evidence.twig_radius_m)};
  std::vector<double> expected(cylinders.size()), spread(cylinders.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const TaperLaw& law = cylinders[i].rank == 0 ? laws.stem : laws.branches;
    expected[i] = law_log(law, growth[i], evidence.twig_radius_m);
    spread[i] = law.spread;
  }
  const std::vector<Belief> found = robust_posterior(cylinders, measured, expected, spread);
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    cylinders[i].radius = std::max(kLeastRadius, std::exp(expected[i] + found[i].mean));
    cylinders[i].radius_se = cylinders[i].radius * std::sqrt(found[i].variance);
  }
  bound(cylinders, shoots, evidence.twig_radius_m);
  return laws;
}

}  // namespace pc
