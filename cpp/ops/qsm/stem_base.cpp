#include "ops/qsm/stem_base.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>

namespace pc {

namespace {

constexpr double kMostGap = 1.0, kToldGap = 0.3;  // metres
constexpr double kLeastUpright = 0.7071;          // cosine

std::string metres(double m) {
  char text[32];
  std::snprintf(text, sizeof text, m < 0.25 ? "%.2f m" : "%.1f m", m);
  return text;
}

}  // namespace

double draw_to_ground(QsmBuildResult& built, double ground_z) {
  std::vector<QsmCylinder>& cylinders = built.qsm.cylinders;
  if (cylinders.empty() || !std::isfinite(ground_z)) return std::numeric_limits<double>::quiet_NaN();
  QsmCylinder& base = cylinders.front();
  const double gap = std::max(0.0, base.start.z - ground_z), length = base.length_m();
  if (!(gap > 0) || !(length > 0)) return gap;
  const Vec3d axis = (base.end - base.start) * (1 / length);
  const double factor = built.scale.factor;
  const bool drawn = gap <= kMostGap / factor && axis.z >= kLeastUpright;
  if (gap >= kToldGap / factor)
    built.warnings.push_back("the lowest points of the stem are " + metres(gap) + " above the ground: " +
                             (drawn ? "the model was drawn out to it with the lowest radius that was measured"
                                    : "what is below them is not part of the model"));
  if (!drawn) return gap;
  const double more = gap / axis.z, volume = std::numbers::pi * base.radius * base.radius * more;
  base.start = base.start - axis * more;
  for (VolumeInterval* interval : {&built.total, &built.stem}) {
    interval->low += volume;
    interval->high += volume;
  }
  return gap;
}

}  // namespace pc
