#include "ops/qsm/taper_correction.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace pc {

namespace {

constexpr double kFullCoverage = 0.7;
constexpr double kLeastWeight = 0.05;
constexpr double kOneSidedExcess = 0.45;
constexpr double kPipe = 2.5;
constexpr double kLeastRadius = 0.001;

void isotonic_shoots(std::vector<QsmCylinder>& cylinders, const std::vector<QsmShoot>& shoots) {
  std::vector<double> radius, weight;
  for (const QsmShoot& shoot : shoots) {
    radius.clear();
    weight.clear();
    for (const std::int64_t id : shoot.cylinder_ids) {
      const QsmCylinder& c = cylinders[static_cast<std::size_t>(id)];
      radius.push_back(c.radius);
      weight.push_back(std::max(radius_trust(c), kLeastWeight));
    }
    non_increasing(radius, weight);
    for (std::size_t i = 0; i < radius.size(); ++i)
      cylinders[static_cast<std::size_t>(shoot.cylinder_ids[i])].radius = radius[i];
  }
}

/// From the tips to the base: what carries pipes is as thick as they are together, as far as it was not seen itself.
void pipe_bound(std::vector<QsmCylinder>& cylinders) {
  std::vector<double> pipes(cylinders.size(), 0);
  for (std::size_t i = cylinders.size(); i-- > 0;) {
    QsmCylinder& c = cylinders[i];
    const double least = std::pow(pipes[i], 1 / kPipe);
    if (least > c.radius) c.radius += (least - c.radius) * (1 - radius_trust(c));
    if (c.parent_id >= 0) pipes[static_cast<std::size_t>(c.parent_id)] += std::pow(c.radius, kPipe);
  }
}

}  // namespace

double radius_trust(const QsmCylinder& cylinder) {
  return std::isfinite(cylinder.surf_cov) ? std::clamp(cylinder.surf_cov / kFullCoverage, 0.0, 1.0) : 0;
}

void non_increasing(std::vector<double>& values, const std::vector<double>& weights) {
  struct Pool {
    double mean, weight;
    std::size_t count;
  };
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < values.size(); ++i) {
    pools.push_back({values[i], weights[i], 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean < pools.back().mean) {
      const Pool last = pools.back();
      pools.pop_back();
      Pool& into = pools.back();
      into.mean = (into.mean * into.weight + last.mean * last.weight) / (into.weight + last.weight);
      into.weight += last.weight;
      into.count += last.count;
    }
  }
  std::size_t at = 0;
  for (const Pool& pool : pools)
    for (std::size_t i = 0; i < pool.count; ++i) values[at++] = pool.mean;
}

void taper_correction(std::vector<QsmCylinder>& cylinders, const std::vector<QsmShoot>& shoots,
                      double twig_radius_m) {
  isotonic_shoots(cylinders, shoots);
  std::vector<std::uint8_t> carries(cylinders.size(), 0);
  for (const QsmCylinder& c : cylinders)
    if (c.parent_id >= 0) carries[static_cast<std::size_t>(c.parent_id)] = 1;
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    QsmCylinder& c = cylinders[i];
    if (c.rank >= 1) c.radius *= 1 - kOneSidedExcess * (1 - radius_trust(c));
    if (carries[i] == 0) c.radius = std::max(c.radius, twig_radius_m);
  }
  pipe_bound(cylinders);
  isotonic_shoots(cylinders, shoots);
  for (QsmCylinder& c : cylinders) {  // parents come first
    if (c.parent_id >= 0)
      c.radius = std::min(c.radius, cylinders[static_cast<std::size_t>(c.parent_id)].radius);
    c.radius = std::max(c.radius, kLeastRadius);
  }
}

}  // namespace pc
