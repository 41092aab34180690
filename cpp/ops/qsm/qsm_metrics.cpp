#include "ops/qsm/qsm_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "core/error.h"

namespace pc {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr std::size_t kPerPoll = std::size_t{1} << 16;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double lowest_end(const QsmCylinder& c) { return std::min(c.start.z, c.end.z); }
double volume(const QsmCylinder& c) { return kPi * c.radius * c.radius * c.length_m(); }

/// Sums of one rank.
struct RankSums {
  QsmRankMetrics metrics;
  std::uint64_t cylinder_count = 0, angle_count = 0;
  double weighted_diameter = 0, diameter = 0, angle = 0;
};

struct Extent {
  double least = kInfinity, most = -kInfinity;
  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  double size() const { return most > least ? most - least : 0; }
};

/// Of several roots one of the stem (rank 0), of these that of the shoot with most wood: a twig at the foot of a tree may
/// begin lower than its trunk. Of equals, and without roots, the cylinder with the lowest end.
const QsmCylinder& base_of(const Qsm& qsm) {
  std::map<std::int64_t, double> wood;
  for (const QsmCylinder& c : qsm.cylinders) wood[c.shoot_id] += volume(c);
  const QsmCylinder* base = nullptr;
  for (const bool roots : {true, false}) {
    for (const QsmCylinder& c : qsm.cylinders) {
      if (roots && c.parent_id != kNoQsmParent) continue;
      const auto rank_of = [&](const QsmCylinder& one) {
        return std::tuple(roots && one.rank != 0, roots ? -wood[one.shoot_id] : 0.0, lowest_end(one));
      };
      if (base == nullptr || rank_of(c) < rank_of(*base)) base = &c;
    }
    if (base != nullptr) break;
  }
  return *base;
}

/// Angle between the axes of two cylinders, radians; nothing if one has no length.
std::optional<double> angle_between(const QsmCylinder& a, const QsmCylinder& b) {
  const Vec3d u{a.end.x - a.start.x, a.end.y - a.start.y, a.end.z - a.start.z};
  const Vec3d v{b.end.x - b.start.x, b.end.y - b.start.y, b.end.z - b.start.z};
  if (!(a.length_m() > 0 && b.length_m() > 0)) return {};
  const Vec3d cross{u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
  const double sine = std::sqrt(cross.x * cross.x + cross.y * cross.y + cross.z * cross.z);
  return std::atan2(sine, u.x * v.x + u.y * v.y + u.z * v.z);
}

using Ranks = std::map<std::int32_t, RankSums>;

void add_angles(const Qsm& qsm, Ranks& ranks, OpContext& ctx) {
  std::vector<std::pair<std::int64_t, const QsmCylinder*>> by_id;
  by_id.reserve(qsm.cylinders.size());
  for (const QsmCylinder& c : qsm.cylinders) by_id.emplace_back(c.cyl_id, &c);
  const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::sort(by_id.begin(), by_id.end(), less);
  const auto find = [&](std::int64_t id) -> const QsmCylinder* {
    const auto at = std::lower_bound(by_id.begin(), by_id.end(),
                                     std::pair{id, static_cast<const QsmCylinder*>(nullptr)}, less);
    return at != by_id.end() && at->first == id ? at->second : nullptr;
  };
  std::size_t seen = 0;
  for (const QsmShoot& shoot : qsm.shoots) {
    if (++seen % kPerPoll == 0) ctx.checkpoint();
    RankSums& sums = ranks[shoot.rank];
    ++sums.metrics.shoot_count;
    if (shoot.rank == 0 || shoot.cylinder_ids.empty() || shoot.parent_cyl_id == kNoQsmParent) continue;
    const QsmCylinder *first = find(shoot.cylinder_ids.front()), *parent = find(shoot.parent_cyl_id);
    if (first == nullptr || parent == nullptr) continue;
    if (const auto angle = angle_between(*first, *parent)) {
      sums.angle += *angle;
      ++sums.angle_count;
    }
  }
}

QsmRankMetrics finished(std::int32_t rank, RankSums&& sums) {
  QsmRankMetrics out = sums.metrics;
  out.rank = rank;
  if (out.shoot_count > 0)
    out.mean_shoot_length_m = out.total_length_m / static_cast<double>(out.shoot_count);
  if (out.total_length_m > 0) {
    out.mean_diameter_m = sums.weighted_diameter / out.total_length_m;
  } else if (sums.cylinder_count > 0) {
    out.mean_diameter_m = sums.diameter / static_cast<double>(sums.cylinder_count);
  }
  out.mean_branch_angle_rad =
      sums.angle_count > 0 ? sums.angle / static_cast<double>(sums.angle_count) : std::nan("");
  return out;
}

}  // namespace

QsmMetrics qsm_metrics(const Qsm& qsm, OpContext& ctx) {
  require(!qsm.cylinders.empty(), "a model without cylinders has no metrics");
  ctx.begin_phase("Computing metrics", 0);
  QsmMetrics out;
  Ranks ranks;
  Extent x, y, z, canopy;
  for (std::size_t i = 0; i < qsm.cylinders.size(); ++i) {
    if (i % kPerPoll == 0) ctx.checkpoint();
    const QsmCylinder& c = qsm.cylinders[i];
    RankSums& sums = ranks[c.rank];
    const double length = c.length_m(), wood = volume(c);
    ++sums.cylinder_count;
    sums.metrics.total_length_m += length;
    sums.metrics.woody_volume_m3 += wood;
    sums.weighted_diameter += 2 * c.radius * length;
    sums.diameter += 2 * c.radius;
    out.total_length_m += length;
    (c.rank == 0 ? out.stem_volume_m3 : out.branch_volume_m3) += wood;
    for (const Vec3d& end : {c.start, c.end}) {
      x.add(end.x);
      y.add(end.y);
      z.add(end.z);
      if (c.rank > 0) canopy.add(end.z);
    }
  }
  add_angles(qsm, ranks, ctx);
  const double radius = base_of(qsm).radius;
  out.tcsa_m2 = kPi * radius * radius;
  out.trunk_diameter_m = 2 * radius;
  out.tree_height_m = z.size();
  out.canopy_width_m = std::hypot(x.size(), y.size());
  out.canopy_height_m = canopy.size();
  out.total_woody_volume_m3 = out.stem_volume_m3 + out.branch_volume_m3;
  out.shoot_count = qsm.shoots.size();
  out.max_rank = ranks.rbegin()->first;
  for (auto& [rank, sums] : ranks) {
    if (rank == 1) out.scaffold_count = sums.metrics.shoot_count;
    out.per_rank.push_back(finished(rank, std::move(sums)));
  }
  return out;
}

}  // namespace pc
