#include "ops/qsm/trunk_width.h"

#include <algorithm>
#include <cmath>

#include "ops/qsm/fit_cylinders.h"

namespace pc {

namespace {

constexpr double kLow = 0.5, kHigh = 2, kFoot = 3, kReach = 6;  // metres
constexpr std::size_t kFewestPoints = 50;

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool may_be_thick(Span<const Vec3d> points) {
  double lowest = HUGE_VAL;
  for (const Vec3d& p : points) lowest = std::min(lowest, p.z);
  std::vector<double> x, y, away;
  for (const Vec3d& p : points) {
    if (!(p.z >= lowest + kLow && p.z <= lowest + kHigh)) continue;
    x.push_back(p.x);
    y.push_back(p.y);
  }
  if (x.size() < kFewestPoints) return false;
  std::vector<double> sorted_x = x, sorted_y = y;
  const double mx = median(sorted_x), my = median(sorted_y);
  for (std::size_t i = 0; i < x.size(); ++i) away.push_back(std::hypot(x[i] - mx, y[i] - my));
  return median(away) > kThickTrunk;
}

}  // namespace

double trunk_width(const std::vector<QsmCylinder>& cylinders, Span<const Vec3d> points, OpContext& ctx) {
  if (cylinders.empty() || !may_be_thick(points)) return 0;
  const auto root =
      std::find_if(cylinders.begin(), cylinders.end(), [](const QsmCylinder& c) { return c.parent_id < 0; });
  if (root == cylinders.end()) return 0;
  const std::vector<double> width = axis_widths(cylinders, points, kReach, ctx);
  std::vector<double> low;
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    const QsmCylinder& c = cylinders[i];
    const bool is_low = c.shoot_id == root->shoot_id && std::fabs(c.start.z - root->start.z) <= kFoot;
    if (is_low && std::isfinite(width[i])) low.push_back(width[i]);
  }
  if (low.empty()) return 0;
  const double found = median(low);
  return found > kThickTrunk ? found : 0;
}

}  // namespace pc
