#include "ops/qsm/phyllotaxis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ops/qsm/azimuth_frame.h"

namespace pc {

namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr double kDegree = std::numbers::pi / 180;
/// Share of steps that say nothing: misfitted forks, shoots from old wood.
constexpr double kStray = 0.05;
/// 137.5 wins unless another spiral is exp(3) = 20 times as likely.
constexpr double kSpiralPreference = 3;
/// More unbroken buds in a row reach every azimuth.
constexpr int kMostJumps = 6;
constexpr std::size_t kPerPoll = 4096;

/// A child shoot on its parent.
struct Child {
  std::int64_t parent;    ///< position of the parent shoot
  std::int64_t place;     ///< number of the fork cylinder in the parent
  double along;           ///< metres along the fork cylinder
  double azimuth;         ///< radians
  std::int64_t shoot_id;  ///< decides ties
};

std::unordered_map<std::int64_t, std::size_t> positions_of(const std::vector<QsmCylinder>& cylinders) {
  std::unordered_map<std::int64_t, std::size_t> out;
  out.reserve(cylinders.size());
  for (std::size_t i = 0; i < cylinders.size(); ++i) out.emplace(cylinders[i].cyl_id, i);
  return out;
}

/// Unit vector; false for a vector without a direction.
bool unit(Vec3d& v) {
  const double length = std::sqrt(dot(v, v));
  if (!(length > 1e-12) || !std::isfinite(length)) return false;
  v = v * (1 / length);
  return true;
}

/// Azimuth of a direction about an axis; NaN along the axis.
double azimuth_about(Vec3d axis, Vec3d direction) {
  if (!unit(axis) || !unit(direction)) return std::numeric_limits<double>::quiet_NaN();
  const AzimuthFrame frame = azimuth_frame(axis);
  const double x = dot(direction, frame.u), y = dot(direction, frame.v);
  constexpr double kParallel = 1e-6;
  if (x * x + y * y < kParallel * kParallel) return std::numeric_limits<double>::quiet_NaN();
  return std::atan2(y, x);
}

std::vector<Child> children_of(const Qsm& qsm, OpContext& ctx) {
  const auto position = positions_of(qsm.cylinders);
  std::unordered_map<std::int64_t, std::int64_t> shoot_position;
  std::unordered_map<std::int64_t, std::int64_t> place;
  for (std::size_t s = 0; s < qsm.shoots.size(); ++s) {
    const QsmShoot& shoot = qsm.shoots[s];
    shoot_position.emplace(shoot.shoot_id, static_cast<std::int64_t>(s));
    for (std::size_t k = 0; k < shoot.cylinder_ids.size(); ++k)
      place.emplace(shoot.cylinder_ids[k], static_cast<std::int64_t>(k));
  }
  std::vector<Child> out;
  for (std::size_t s = 0; s < qsm.shoots.size(); ++s) {
    if (s % kPerPoll == 0) ctx.checkpoint();
    const QsmShoot& shoot = qsm.shoots[s];
    const auto parent = shoot_position.find(shoot.parent_shoot_id);
    const auto fork = position.find(shoot.parent_cyl_id);
    if (parent == shoot_position.end() || fork == position.end() || shoot.cylinder_ids.empty()) continue;
    const auto first = position.find(shoot.cylinder_ids.front());
    if (first == position.end()) continue;
    const QsmCylinder &base = qsm.cylinders[first->second], &carrier = qsm.cylinders[fork->second];
    const Vec3d axis = carrier.end - carrier.start;
    const double azimuth = azimuth_about(axis, base.end - base.start);
    if (std::isnan(azimuth)) continue;
    out.push_back({parent->second, place[carrier.cyl_id],
                   dot(base.start - carrier.start, axis) / std::sqrt(dot(axis, axis)), azimuth,
                   shoot.shoot_id});
  }
  std::sort(out.begin(), out.end(), [](const Child& a, const Child& b) {
    return std::tie(a.parent, a.place, a.along, a.shoot_id) <
           std::tie(b.parent, b.place, b.along, b.shoot_id);
  });
  return out;
}

/// Steps of azimuth, a list per parent.
std::vector<std::vector<double>> steps_of(const std::vector<Child>& children) {
  std::vector<std::vector<double>> out;
  for (std::size_t i = 1; i < children.size(); ++i) {
    if (children[i].parent != children[i - 1].parent) continue;
    if (i < 2 || children[i - 2].parent != children[i].parent) out.emplace_back();
    out.back().push_back(children[i].azimuth - children[i - 1].azimuth);
  }
  return out;
}

/// An expected step and its share.
struct Component {
  double step, weight;
};

/// Expected steps of a pattern; `broken` is the share of buds that grew.
std::vector<Component> components(double angle_deg, double broken) {
  if (angle_deg == 180) return {{180 * kDegree, 0.7}, {0, 0.3}};
  if (angle_deg == 90) return {{180 * kDegree, 0.45}, {90 * kDegree, 0.22}, {-90 * kDegree, 0.22}, {0, 0.11}};
  std::vector<Component> out;
  double weight = broken, sum = 0;
  for (int j = 1; j <= kMostJumps; ++j, weight *= 1 - broken) {
    out.push_back({std::remainder(j * angle_deg * kDegree, kTurn), weight});
    sum += weight;
  }
  for (Component& one : out) one.weight /= sum;
  return out;
}

/// Density of a step relative to that of uniform azimuths. The error is a normal one, cut at half a turn: the scatter is
/// at most 45 degrees.
double relative_density(double step, const std::vector<Component>& expected, double sigma) {
  double sum = 0;
  for (const auto& [at, weight] : expected) {
    const double off = std::remainder(step - at, kTurn) / sigma;
    sum += weight * std::exp(-0.5 * off * off);
  }
  return kStray + (1 - kStray) * sum * kTurn / (sigma * std::sqrt(kTurn));
}

/// Log-likelihood of the steps of all shoots, minus that of uniform azimuths.
double support(const std::vector<std::vector<double>>& shoots, const std::vector<Component>& expected,
               double sigma, bool spiral) {
  double sum = 0;
  for (const auto& steps : shoots) {
    double left = 0, right = 0;
    for (const double step : steps) {
      left += std::log(relative_density(step, expected, sigma));
      if (spiral) right += std::log(relative_density(-step, expected, sigma));
    }
    const double most = std::max(left, right);
    sum += spiral ? most + std::log(0.5 * (std::exp(left - most) + std::exp(right - most))) : left;
  }
  return sum;
}

double best_support(const std::vector<std::vector<double>>& shoots, double angle_deg, OpContext& ctx) {
  const bool spiral = angle_deg != 180 && angle_deg != 90;
  double best = -std::numeric_limits<double>::infinity();
  for (const double broken : {0.5, 0.7, 0.9, 0.99}) {
    for (const double sigma_deg : {2.0, 4.0, 6.0, 9.0, 13.0, 20.0, 30.0, 45.0}) {
      ctx.checkpoint();
      best = std::max(best, support(shoots, components(angle_deg, broken), sigma_deg * kDegree, spiral));
      ctx.advance(1);
    }
    if (!spiral) break;
  }
  return best;
}

}  // namespace

PhyllotaxisResult phyllotaxis(const Qsm& qsm, OpContext& ctx) {
  ctx.begin_phase("Measuring azimuths", 0);
  const auto shoots = steps_of(children_of(qsm, ctx));
  PhyllotaxisResult out;
  out.parent_count = shoots.size();
  for (const auto& steps : shoots) out.step_count += steps.size();
  if (shoots.empty()) return out;
  ctx.begin_phase("Comparing patterns", 3 * 32 + 2 * 8);
  std::size_t best = 0;
  for (std::size_t i = 0; i < kDivergenceAngles.size(); ++i) {
    out.log_support[i] = best_support(shoots, kDivergenceAngles[i], ctx);
    out.score[i] = std::max(0.0, 1 - std::exp(-out.log_support[i] / static_cast<double>(out.step_count)));
    if (out.log_support[i] > out.log_support[best]) best = i;
  }
  const double angle = kDivergenceAngles[best];
  const bool spiral = angle == 144 || angle == 150;
  if (spiral && out.log_support[best] - out.log_support[0] < kSpiralPreference) best = 0;
  out.angle_deg = kDivergenceAngles[best];
  out.confidence = out.score[best];
  return out;
}

}  // namespace pc
