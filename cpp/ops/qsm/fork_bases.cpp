#include "ops/qsm/fork_bases.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "ops/qsm/axis_point.h"

namespace pc {

namespace {

constexpr double kLeastLength = 2;  // radii

/// Where a branch may begin.
struct Base {
  std::size_t carrier;
  Vec3d at;
  double miss_m;
};

/// The point of the carrier's axis that is nearest to the way back from the end of `c`, at most `most_m` beyond its start.
Base meeting(const QsmCylinder& c, const QsmCylinder& carrier, std::size_t index, double most_m) {
  const double length = c.length_m();
  const Vec3d back = (c.start - c.end) * (1 / length), edge = carrier.end - carrier.start;
  const Vec3d between = carrier.start - c.end;
  const double squared = dot(edge, edge), turn = dot(edge, back);
  const double across = squared - turn * turn;  // 0 for parallel axes
  double share = 0;
  if (across > 1e-9 * squared)
    share = std::clamp((turn * dot(between, back) - dot(between, edge)) / across, 0.0, 1.0);
  const auto along = [&](const Vec3d& p) { return std::clamp(dot(p - c.end, back), 0.0, length + most_m); };
  Vec3d at = carrier.start + edge * share;
  at = nearest_on_axis(carrier, c.end + back * along(at));
  return {index, at, std::sqrt(squared_distance(at, c.end + back * along(at)))};
}

}  // namespace

void meet_parents(std::vector<QsmCylinder>& cylinders, double most_m) {
  constexpr auto kNone = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> next(cylinders.size(), kNone);  // of the same shoot
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    QsmCylinder& c = cylinders[i];
    if (c.parent_id < 0) continue;
    const auto fork = static_cast<std::size_t>(c.parent_id);
    if (cylinders[fork].shoot_id == c.shoot_id) {
      next[fork] = i;
      continue;
    }
    const Vec3d nearest = nearest_on_axis(cylinders[fork], c.start);
    const bool known = std::isfinite(c.mad) && c.length_m() > kLeastLength * c.radius;
    Base best{fork, nearest, std::numeric_limits<double>::infinity()};
    const auto consider = [&](std::size_t index) {
      const QsmCylinder& carrier = cylinders[index];
      if (carrier.shoot_id != cylinders[fork].shoot_id) return;
      const Base base = meeting(c, carrier, index, most_m + carrier.radius);
      if (base.miss_m <= carrier.radius && base.miss_m < best.miss_m) best = base;
    };
    if (known) {
      consider(fork);
      if (cylinders[fork].parent_id >= 0) consider(static_cast<std::size_t>(cylinders[fork].parent_id));
      if (next[fork] != kNone) consider(next[fork]);  // stands before i, and so may carry it
    }
    c.parent_id = static_cast<std::int64_t>(best.carrier);
    c.start = best.at;
  }
}

}  // namespace pc
