#include "ops/qsm/radius_errors.h"

#include <algorithm>
#include <cmath>

#include "ops/qsm/shoot_tree.h"

namespace pc {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kUnknownError = 0.5;  // relative, of a radius that was not fitted
constexpr double kMostError = 1.0;

double relative_error(const QsmCylinder& c) {
  return std::isfinite(c.radius_se) ? std::min(kMostError, c.radius_se / c.radius) : kUnknownError;
}

}  // namespace

VolumeErrors volume_errors(const std::vector<QsmCylinder>& cylinders, const RadiusErrors& errors) {
  VolumeErrors out;
  const std::size_t count = cylinders.size();
  std::vector<double> stem(count), branches(count);  // change of the volume per error of ln(radius)
  for (std::size_t i = 0; i < count; ++i) {
    const QsmCylinder& c = cylinders[i];
    const double volume = kPi * c.radius * c.radius * c.length_m();
    (c.rank == 0 ? out.stem_m3 : out.branches_m3) += volume;
    (c.rank == 0 ? stem : branches)[i] = 2 * volume;
  }
  const auto add = [&](double of_stem, double of_branches, double variance) {
    out.stem += of_stem * of_stem * variance;
    out.branches += of_branches * of_branches * variance;
    out.both += of_stem * of_branches * variance;
  };
  for (const SharedError& shared : errors.shared) {
    double of_stem = 0, of_branches = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double share = shared.share.empty() ? 1 : shared.share[i];
      of_stem += share * stem[i];
      of_branches += share * branches[i];
    }
    add(of_stem, of_branches, shared.sd * shared.sd);
  }
  for (std::size_t i = count; i-- > 0;) {
    add(stem[i], branches[i], errors.fresh[i]);
    if (cylinders[i].parent_id < 0) continue;
    const auto parent = static_cast<std::size_t>(cylinders[i].parent_id);
    stem[parent] += errors.follows[i] * stem[i];
    branches[parent] += errors.follows[i] * branches[i];
  }
  const auto relative = [](double& value, double scale) { value = scale > 0 ? value / scale : 0; };
  relative(out.stem, out.stem_m3 * out.stem_m3);
  relative(out.branches, out.branches_m3 * out.branches_m3);
  relative(out.both, out.stem_m3 * out.branches_m3);
  return out;
}

RadiusErrors segment_errors(const std::vector<QsmCylinder>& cylinders, double common_sd) {
  const CylinderChildren children = cylinder_children(cylinders);
  RadiusErrors out{
      std::vector<double>(cylinders.size(), 0), std::vector<double>(cylinders.size(), 0), {{common_sd, {}}}};
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    const QsmCylinder& c = cylinders[i];
    const double error = relative_error(c);
    const auto parent = static_cast<std::size_t>(c.parent_id);
    const bool continues = c.parent_id >= 0 && children.first[parent + 1] - children.first[parent] == 1 &&
                           cylinders[parent].rank == c.rank;
    const double below = continues ? relative_error(cylinders[parent]) : 0;
    if (below > 0)
      out.follows[i] = error / below;
    else
      out.fresh[i] = error * error;
  }
  return out;
}

}  // namespace pc
