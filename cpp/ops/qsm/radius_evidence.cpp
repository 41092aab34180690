#include "ops/qsm/radius_evidence.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pc {

namespace {

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
constexpr std::uint32_t kFewestSeen = 5;
constexpr double kThickStem = 0.05;   // metres: no twigs stand around it so that they cover its surface
constexpr double kModelError = 0.03;  // relative, of any radius: no stem is a cylinder
constexpr double kTooThick = 1.2;     // of a surface below

/// Of scanner noise: in the plane across a thin cylinder over that across the surface of a thick one, as variances. Noise of the
/// range on a cylinder seen from one side: 1 over the mean of cos^2 of the angle of incidence = 1.5; the same in all
/// directions: 2; across the surface: 1.
constexpr double kThinNoise = 1.5, kThinNoiseError = 0.3;
constexpr double kMostThinNoise = 1.5;                   // of a thin cylinder's own scatter: more is a bundle
constexpr double kNoiseMost = 0.3, kNoiseRadius = 0.15;  // scatter / radius, metres: where noise shows
constexpr double kThinRadius = 0.25;                     // scatters of a thick surface

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

std::vector<MeasuredRadius> fitted_radii(const std::vector<QsmCylinder>& cylinders,
                                         const TaperEvidence& evidence, double surface_noise_m) {
  std::vector<MeasuredRadius> out(cylinders.size());
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    const QsmCylinder& c = cylinders[i];
    out[i].length_m = c.length_m();
    const double noise = evidence.noise_m[i];
    if (!std::isfinite(c.radius_se) || !std::isfinite(noise)) continue;
    const double scatter = noise / c.radius;
    const double arc = std::clamp(evidence.arc_cov[i], 0.05, 1.0);
    if (scatter > kMostScatter) continue;
    const double whole = std::clamp((c.surf_cov - kHalfSeen) / (kAllSeen - kHalfSeen), 0.0, 1.0);
    // what scatters no more than surfaces do is no bundle if it is seen all around
    const bool clean = noise * noise < kMostThinNoise * surface_noise_m * surface_noise_m;
    const bool is_stem = c.rank == 0 && c.radius >= kThickStem;
    const double unclear = scatter * (1 + scatter * scatter / (kClearScatter * kClearScatter)) *
                           (1 - (clean || is_stem ? 1 : kWholeGain) * whole);
    const double unbiased = std::max(kLeastWoodRadius, c.radius - noise * noise / (2 * c.radius));
    const double error = std::hypot(c.radius_se / c.radius, unclear) / std::sqrt(arc) /
                         std::clamp(c.surf_cov / kSeenSurface, kLeastSeen, 1.0) /
                         std::min(1.0, arc / kTrustedArc);
    out[i].log_radius = std::log(unbiased);
    out[i].variance = error * error + kModelError * kModelError;
    out[i].trusted = error < kTrustedError && arc >= kTrustedArc;
  }
  return out;
}

/// Radii of cylinders that their points scatter about as far as they are thick: the mean square of the distances from the axis
/// is that of the radius and of the noise.
void add_thin(std::vector<MeasuredRadius>& measured, const std::vector<QsmCylinder>& cylinders,
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
    MeasuredRadius& m = measured[i];
    m.square = c.radius * c.radius + own * own - across;
    m.square_noise = std::hypot(across * std::sqrt(2 / count), kThinNoiseError * variance);
    m.square_slope = 4 * across / count;
    const double least = kThinRadius * noise;  // what is thinner is not told from nothing
    m.log_radius = 0.5 * std::log(std::max(m.square, least * least));
  }
}

/// Radii of stretches of stem instead of those of single cylinders.
void use_stretches(std::vector<MeasuredRadius>& measured, Span<const StretchRadius> stretches) {
  for (std::size_t i = 0; i < stretches.size; ++i) {
    const StretchRadius& stretch = stretches[i];
    if (!std::isfinite(stretch.radius_m)) continue;
    const double error = stretch.sigma_m / stretch.radius_m;
    MeasuredRadius& m = measured[i];
    m = {std::log(stretch.radius_m), error * error * stretch.sharing + kModelError * kModelError, m.length_m,
         true};
  }
}

/// Parents come first.
void leave_out_too_thick(std::vector<MeasuredRadius>& measured, const std::vector<QsmCylinder>& cylinders,
                         const TaperEvidence& evidence) {
  std::vector<double> most(cylinders.size(), kInfinity);  // radius of the thinnest sure surface below
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    const QsmCylinder& c = cylinders[i];
    if (c.parent_id >= 0) most[i] = most[static_cast<std::size_t>(c.parent_id)];
    MeasuredRadius& m = measured[i];
    if (!std::isfinite(m.variance)) continue;
    const bool sure = m.trusted && c.surf_cov >= kAllSeen && evidence.arc_cov[i] >= kAllSeen;
    if (sure) {
      most[i] = std::exp(m.log_radius) > kTooThick * most[i] ? c.radius : std::min(most[i], c.radius);
    } else if (std::exp(m.log_radius) > kTooThick * most[i]) {
      m.variance = kInfinity;
      m.trusted = false;
    }
  }
}

}  // namespace

double surface_noise(const std::vector<QsmCylinder>& cylinders, const TaperEvidence& evidence) {
  std::vector<std::pair<double, double>> seen;
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    const QsmCylinder& c = cylinders[i];
    const double scatter = evidence.noise_m[i] / c.radius;
    if (c.radius < kNoiseRadius && scatter <= kNoiseMost && c.surf_cov >= kSeenSurface)
      seen.emplace_back(evidence.noise_m[i], c.length_m());
  }
  return seen.size() < kFewestSeen ? 0 : weighted_median(seen);
}

double sharp_share(const std::vector<QsmCylinder>& cylinders, const TaperEvidence& evidence) {
  double sharp = 0, all = 0;
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    const QsmCylinder& c = cylinders[i];
    if (!std::isfinite(evidence.noise_m[i])) continue;
    const double volume = c.radius * c.radius * c.length_m();
    all += volume;
    if (evidence.noise_m[i] <= kNoiseMost * c.radius) sharp += volume;
  }
  return all > 0 ? sharp / all : 1;
}

std::vector<MeasuredRadius> measured_radii(const std::vector<QsmCylinder>& cylinders,
                                           const TaperEvidence& evidence, double noise_m) {
  std::vector<MeasuredRadius> measured = fitted_radii(cylinders, evidence, noise_m);
  add_thin(measured, cylinders, evidence, noise_m);
  use_stretches(measured, evidence.stretches);
  leave_out_too_thick(measured, cylinders, evidence);
  return measured;
}

Belief belief_of(const MeasuredRadius& measured, double law_log) {
  if (!measured.is_thin()) return {measured.log_radius, measured.variance};
  // linear in the measured square: no bias
  const double square = std::max(std::exp(2 * law_log), kLeastWoodRadius * kLeastWoodRadius);
  return {0.5 * std::log(square) + (measured.square - square) / (2 * square),
          measured.square_variance(square) / (4 * square * square)};
}

}  // namespace pc
