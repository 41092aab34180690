#include "ops/trees/stem_radius.h"

#include <algorithm>
#include <cmath>

namespace pc {

StemRadius::StemRadius(const Stem& stem)
    : alone_(stem.breast_height ? stem.breast_height->circle.radius : std::nan("")) {
  for (const StemSection& section : stem.curve) {
    if (section.ok) known_.push_back({section.axial_m, section.circle.radius});
  }
}

double StemRadius::at(double axial_m) const {
  if (known_.empty()) return alone_;
  const auto above = std::lower_bound(known_.begin(), known_.end(), axial_m,
                                      [](const Known& one, double at) { return one.axial_m < at; });
  if (above == known_.begin()) return known_.front().radius;
  if (above == known_.end()) return known_.back().radius;
  const Known& below = *(above - 1);
  const double part = (axial_m - below.axial_m) / (above->axial_m - below.axial_m);
  return below.radius + part * (above->radius - below.radius);
}

}  // namespace pc
