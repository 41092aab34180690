#include "ops/trees/covered_stem.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pc {

namespace {

constexpr double kLeastScatter = 0.02, kLeastPart = 0.06;   // metres; of the radius
constexpr double kLessScatter = 1.0 / 3, kMostRatio = 1.1;  // of those at breast height
constexpr double kAbove = 0.5;                              // metres
constexpr double kBareShare = 0.85;  // of the points near a bare stem, those on its circle
constexpr std::ptrdiff_t kBareSections = 2;

/// Whether next to nothing but one surface is seen, at half its girth or more: of scans that do not fit there are two.
bool is_bare(const StemSection& section) {
  return !section.partial_arc && !section.few_points && !section.covered &&
         std::isfinite(section.scatter_m) &&
         static_cast<double>(section.circle.inlier_count) >=
             kBareShare * static_cast<double>(section.point_count);
}

void distrust_above(Stem& stem, double most_scatter_m) {
  for (StemSection& section : stem.curve)
    if (!(section.scatter_m <= most_scatter_m)) section.ok = false;
}

}  // namespace

bool is_covered(const Stem& stem) {
  const auto& at = stem.breast_height;
  if (!at || !(at->scatter_m > std::max(kLeastScatter, kLeastPart * at->circle.radius))) return false;
  const auto bare = std::count_if(stem.curve.begin(), stem.curve.end(), [&](const StemSection& section) {
    return section.ok && section.axial_m >= at->axial_m + kAbove && is_bare(section) &&
           section.scatter_m <= kLessScatter * at->scatter_m &&
           section.circle.radius <= kMostRatio * at->circle.radius;
  });
  return bare >= kBareSections;
}

double bare_scatter(const Stem& stem) {
  std::vector<double> found;
  for (const StemSection& section : stem.curve)
    if (is_bare(section)) found.push_back(section.scatter_m);
  if (found.size() < 2) return std::nan("");
  std::nth_element(found.begin(), found.begin() + 1, found.end());
  return found[1];
}

void leave_out_cover(Stem& stem) {
  if (!stem.breast_height) return;
  distrust_above(stem, kLessScatter * stem.breast_height->scatter_m);
  stem.breast_height.reset();
}

void distrust_cover(Stem& stem) {
  double most = 0;
  for (const StemSection& section : stem.curve)
    if (section.covered) most = std::max(most, section.scatter_m);
  if (most > 0) distrust_above(stem, std::max(kLeastScatter, most / kLessScatter));
}

}  // namespace pc
