#include "ops/trees/stem_trust.h"

#include <algorithm>
#include <cmath>

namespace pc {

namespace {

constexpr double kLeastTreeRise = 1.5, kLeastSlenderness = 5;
constexpr double kMostSigma = 0.25;  // of the diameter; 0.21 is the largest of stems that were seen
constexpr double kMostRough = 0.06;  // metres of scatter: more is no surface that a few points could show
constexpr double kThick =
    20;  // height over diameter, below which a stem must be well seen: nearly all of a stand are above
constexpr double kThickInliers =
    0.8;  // least share of the slice's points on the circle: stems 1, leaves up to 0.75
constexpr double kThickSigma = 0.1, kThickArc = 0.7;
constexpr double kLeastFirm = 50;  // degrees: stems in three columns of a scan show more, or nothing but stem
constexpr double kNarrowFirm = 30;
constexpr double kMostChance =
    -4.5;  // of few points: leaves seen from the air -3.7 at least, stems -5.8 at most
constexpr double kLeastArc = 0.3;  // of the circle: stumps seen from one side show more, walls and rocks less

/// Whether a circle of a plant that is hardly higher than breast height is one of leaves.
bool lies_in_leaves(const StemSection& at, double height_m) {
  return at.few_points || at.partial_arc || at.high_residual ||
         2 * at.circle.radius > height_m / kLeastSlenderness;
}

/// Whether a circle that is thick for the height of its tree passes through leaves and twigs, as in saplings.
bool is_thicket(const StemSection& at, double height_m, double sigma_m) {
  const FittedCircle& circle = at.circle;
  const double diameter = 2 * circle.radius;
  if (!(diameter > height_m / kThick) || circle.arc_coverage >= kThickArc) return false;
  const auto inliers = static_cast<double>(circle.inlier_count);
  return inliers < kThickInliers * static_cast<double>(at.point_count) || sigma_m > kThickSigma * diameter ||
         (at.few_points && at.evidence.share < kThickInliers);
}

/// Whether a circle is one of many that the points lie on: one or two columns, a few columns of points on one side, or any few points.
bool is_arbitrary(const StemSection& at, double height_m) {
  const CircleEvidence& evidence = at.evidence;
  return are_columns(at.columns, at.scatter_m, at.circle.radius) ||
         (evidence.firm_deg <= kLeastFirm && evidence.share < kThickInliers) ||
         (evidence.firm_deg <= kNarrowFirm && 2 * at.circle.radius > height_m / kThick) ||
         (at.few_points && (evidence.chance > kMostChance || is_two_sided(evidence)));
}

bool says_nothing(const StemSection& at, double height_m, double sigma_m) {
  const double diameter = 2 * at.circle.radius;
  const bool hardly_seen = at.few_points || at.circle.arc_coverage < kLeastArc;
  const bool is_odd = diameter > height_m / kLeastSlenderness || at.scatter_m > kMostRough;
  return sigma_m > kMostSigma * diameter || (hardly_seen && is_odd) || is_thicket(at, height_m, sigma_m) ||
         is_arbitrary(at, height_m);
}

}  // namespace

bool is_shrub(const Stem& stem, double height_m, double breast_height_m) {
  return stem.breast_height && height_m < kLeastTreeRise * breast_height_m &&
         lies_in_leaves(*stem.breast_height, height_m);
}

bool is_no_stem(const Stem& stem, double height_m, double sigma_m) {
  return stem.breast_height && says_nothing(*stem.breast_height, height_m, sigma_m);
}

void distrust_leaves(Stem& stem, double height_m, double breast_height_m) {
  const bool is_low = height_m < kLeastTreeRise * breast_height_m;
  for (StemSection& section : stem.curve) {
    if ((is_low && lies_in_leaves(section, height_m)) ||
        says_nothing(section, height_m, 2 * section.circle.radius_sigma))
      section.ok = false;
  }
}

namespace {

double sigma_of_sections(const Stem& stem) {
  constexpr double kReach = 1.5, kForm = 0.01, kPriorFreedom = 2, kMostRatio = 9;
  if (!stem.breast_height) return std::nan("");
  const StemSection& at = *stem.breast_height;
  const double sigma = 2 * at.circle.radius_sigma;
  double w = 0, ws = 0, wd = 0, wss = 0, wsd = 0, wdd = 0;
  std::size_t count = 0;
  const auto take = [&](const StemSection& section) {
    const double own = 2 * section.circle.radius_sigma, d = 2 * section.circle.radius;
    const double s = section.axial_m - at.axial_m;
    if (std::isnan(own) || std::abs(s) > kReach) return;
    const double weight = 1 / (own * own + kForm * kForm * d * d), off = d - 2 * at.circle.radius;
    w += weight;
    ws += weight * s;
    wd += weight * off;
    wss += weight * s * s;
    wsd += weight * s * off;
    wdd += weight * off * off;
    ++count;
  };
  take(at);
  for (const StemSection& section : stem.curve) {
    if (section.ok) take(section);
  }
  const double spread = wss - ws * ws / w;
  if (std::isnan(sigma) || count < 3 || !(spread > 1e-9 * wss)) return sigma;
  const double slope = (wsd - ws * wd / w) / spread;
  const double chi2 = std::max(0.0, wdd - wd * wd / w - slope * slope * spread);
  const double ratio = (kPriorFreedom + chi2) / (kPriorFreedom + static_cast<double>(count) - 2);
  return sigma * std::sqrt(std::clamp(ratio, 1.0, kMostRatio));
}

}  // namespace

double breast_height_sigma(const Stem& stem) {
  const double sigma = sigma_of_sections(stem);
  if (!stem.breast_height || !(stem.breast_height->scatter_m > kMostScatter)) return sigma;
  return std::hypot(sigma, stem.breast_height->scatter_m);
}

}  // namespace pc
