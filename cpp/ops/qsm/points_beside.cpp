#include "ops/qsm/points_beside.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/qsm/axis_point.h"

namespace pc {

namespace {

constexpr double kBeside = 0.15;  // metres from the surface
constexpr double kMostTimes = 3;
constexpr std::size_t kLowest = 20;  // of the points beside: one in so many may lie below the part

bool lies_beside(const QsmCylinder& c, const Vec3d& p) {
  const double reach = c.radius + kBeside;
  return squared_distance(p, nearest_on_axis(c, p)) > reach * reach;
}

/// Of the part of a cylinder above a height, m3.
double volume_above(const QsmCylinder& c, double z) {
  const double low = std::min(c.start.z, c.end.z), high = std::max(c.start.z, c.end.z);
  const double share = high > low ? std::clamp((high - z) / (high - low), 0.0, 1.0) : low >= z ? 1 : 0;
  return share * std::numbers::pi * c.radius * c.radius * c.length_m();
}

}  // namespace

PointsBeside points_beside(const std::vector<QsmCylinder>& cylinders, const FittedSurface& surface,
                           Span<const Vec3d> points, const std::vector<Vec3d>& unreached) {
  std::vector<double> beside, near;  // heights
  for (const Vec3d& p : unreached) beside.push_back(p.z);
  for (std::size_t i = 0; i < cylinders.size(); ++i)
    for (std::uint64_t k = surface.first[i]; k < surface.first[i + 1]; ++k) {
      const Vec3d& p = points[surface.point[k]];
      (lies_beside(cylinders[i], p) ? beside : near).push_back(p.z);
    }
  // What was given to none is beside, wherever it lies.
  PointsBeside out{beside.size() + points.size - surface.point.size(), 0};
  if (beside.empty()) return out;
  const auto lowest = beside.begin() + static_cast<std::ptrdiff_t>(beside.size() / kLowest);
  std::nth_element(beside.begin(), lowest, beside.end());
  const double from = *lowest;
  const auto around = std::count_if(near.begin(), near.end(), [&](double z) { return z >= from; });
  double volume = 0;
  for (const QsmCylinder& c : cylinders) volume += volume_above(c, from);
  const double times = static_cast<double>(out.count) / std::max(1.0, static_cast<double>(around));
  out.wood_m3 = volume * std::min(kMostTimes, times);
  return out;
}

}  // namespace pc
