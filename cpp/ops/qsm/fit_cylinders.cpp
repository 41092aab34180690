#include "ops/qsm/fit_cylinders.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/memory.h"
#include "core/parallel.h"
#include "ops/qsm/axis_owners.h"
#include "ops/qsm/cylinder_fit.h"
#include "ops/qsm/shoot_tree.h"

namespace pc {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Points by cylinder, as CSR; in the order of the points.
struct Owned {
  std::vector<std::uint64_t> first;
  BulkVector<std::uint32_t> point;
};

Owned assign(const std::vector<QsmCylinder>& cylinders, Span<const Vec3d> points, double reach_m,
             OpContext& ctx) {
  const BulkVector<std::uint32_t> of_point = axis_owners(cylinders, points, reach_m, ctx);
  Owned out{std::vector<std::uint64_t>(cylinders.size() + 1, 0), {}};
  for (const std::uint32_t c : of_point)
    if (c != kNoAxis) ++out.first[c + 1];
  for (std::size_t i = 1; i < out.first.size(); ++i) out.first[i] += out.first[i - 1];
  out.point = BulkVector<std::uint32_t>(out.first.back());
  std::vector<std::uint64_t> next(out.first.begin(), out.first.end() - 1);
  for (std::size_t i = 0; i < points.size; ++i)
    if (of_point[i] != kNoAxis) out.point[next[of_point[i]]++] = static_cast<std::uint32_t>(i);
  return out;
}

/// How far the points near a cylinder's surface reach out of its ends.
struct Overhang {
  double before = 0, beyond = 0;
};

Overhang overhang_of(const QsmCylinder& c, const std::vector<Vec3d>& points) {
  constexpr double kNear = 1.5, kLeastNear = 0.01;  // radii, metres
  const Vec3d edge = c.end - c.start;
  const double length = c.length_m();
  Overhang out;
  if (!(length > 0)) return out;
  const double reach = std::max(kNear * c.radius, c.radius + kLeastNear);
  for (const Vec3d& p : points) {
    const Vec3d d = p - c.start;
    const double along = dot(d, edge) / length;
    if (!(squared_distance(d, edge * (along / length)) <= reach * reach)) continue;
    out.before = std::max(out.before, -along);
    out.beyond = std::max(out.beyond, along - length);
  }
  return out;
}

/// Axes and widths of what carries the first cylinder of a shoot: of the cylinder of the fork and its neighbours.
struct Carriers {
  std::vector<QsmCylinder> seeds;
  std::vector<std::size_t> next;  ///< of the same shoot; the cylinder itself where it is the last

  explicit Carriers(const std::vector<QsmCylinder>& cylinders) : seeds(cylinders), next(cylinders.size()) {
    for (std::size_t i = 0; i < next.size(); ++i) next[i] = i;
    for (std::size_t i = 0; i < next.size(); ++i)
      if (seeds[i].parent_id >= 0 && carrier(i).shoot_id == seeds[i].shoot_id)
        next[static_cast<std::size_t>(seeds[i].parent_id)] = i;
  }
  const QsmCylinder& carrier(std::size_t i) const {
    return seeds[static_cast<std::size_t>(seeds[i].parent_id)];
  }

  /// Drops the points of a shoot's first cylinder that may lie on the surface of its carrier.
  void leave_out(std::size_t i, std::vector<Vec3d>& points) const {
    if (seeds[i].parent_id < 0 || carrier(i).shoot_id == seeds[i].shoot_id) return;
    const auto fork = static_cast<std::size_t>(seeds[i].parent_id);
    std::vector<std::size_t> near{fork, next[fork]};
    if (seeds[fork].parent_id >= 0) near.push_back(static_cast<std::size_t>(seeds[fork].parent_id));
    const auto outside = [&](const Vec3d& p) {
      return std::all_of(near.begin(), near.end(), [&](std::size_t k) { return !on_surface(seeds[k], p); });
    };
    points.erase(std::remove_if(points.begin(), points.end(), [&](const Vec3d& p) { return !outside(p); }),
                 points.end());
  }

 private:
  static bool on_surface(const QsmCylinder& c, const Vec3d& p) {
    constexpr double kWithin = 1.2, kMargin = 0.006;  // radii, metres
    const Vec3d edge = c.end - c.start;
    const double squared = dot(edge, edge);
    if (!(squared > 0)) return false;
    const double share = std::clamp(dot(p - c.start, edge) / squared, 0.0, 1.0);
    const double reach = kWithin * c.radius + kMargin;
    return squared_distance(p, c.start + edge * share) <= reach * reach;
  }
};

}  // namespace

FittedSurface fit_cylinders(std::vector<QsmCylinder>& cylinders, Span<const Vec3d> points,
                            const FitCylindersParams& params, OpContext& ctx) {
  constexpr std::uint64_t kMostFitted = 20'000;  // of one cylinder: evenly spaced ones beyond
  Owned owned = assign(cylinders, points, params.reach_m, ctx);
  const Carriers carriers(params.leaves_carrier_out ? cylinders : std::vector<QsmCylinder>());
  FittedSurface surface{std::vector<double>(cylinders.size(), 0),
                        std::vector<double>(cylinders.size(), kNaN),
                        std::vector<double>(cylinders.size(), 0),
                        std::vector<double>(cylinders.size(), 0),
                        std::vector<std::uint32_t>(cylinders.size(), 0),
                        {},
                        {}};
  parallel_for(ctx, cylinders.size(), 4, [&](std::size_t begin, std::size_t end) {
    std::vector<Vec3d> own;
    for (std::size_t i = begin; i < end; ++i) {
      if (ctx.canceled()) return;
      QsmCylinder& c = cylinders[i];
      const std::uint64_t count = owned.first[i + 1] - owned.first[i], taken = std::min(count, kMostFitted);
      own.clear();
      for (std::uint64_t k = 0; k < taken; ++k)
        own.push_back(points[owned.point[owned.first[i] + k * count / taken]]);
      if (params.leaves_carrier_out) carriers.leave_out(i, own);
      const FittedCylinder fit =
          fit_cylinder({own.data(), own.size()}, {c.start, c.end, c.radius, params.max_radius_m});
      c.start = fit.start;
      c.end = fit.end;
      c.radius = fit.radius_m;
      c.surf_cov = fit.surf_cov;
      c.mad = fit.mad_m;
      c.radius_se = fit.radius_se_m;
      surface.arc_cov[i] = fit.arc_cov;
      surface.noise_m[i] = fit.noise_m;
      surface.point_count[i] = static_cast<std::uint32_t>(own.size());
      const Overhang overhang = overhang_of(c, own);
      surface.before_m[i] = overhang.before;
      surface.beyond_m[i] = overhang.beyond;
    }
  });
  surface.first = std::move(owned.first);
  surface.point = std::move(owned.point);
  return surface;
}

void reconnect_shoots(std::vector<QsmCylinder>& cylinders) {
  for (QsmCylinder& c : cylinders) {
    if (c.parent_id < 0) continue;
    const QsmCylinder& parent = cylinders[static_cast<std::size_t>(c.parent_id)];
    if (parent.shoot_id == c.shoot_id) continue;
    const Vec3d axis = parent.end - parent.start;
    const double squared = dot(axis, axis);
    const double at = squared > 0 ? std::clamp(dot(c.start - parent.start, axis) / squared, 0.0, 1.0) : 0;
    c.start = parent.start + axis * at;
  }
}

std::vector<double> axis_widths(const std::vector<QsmCylinder>& cylinders, Span<const Vec3d> points,
                                double reach_m, OpContext& ctx) {
  const Owned owned = assign(cylinders, points, reach_m, ctx);
  std::vector<double> width(cylinders.size(), kNaN);
  parallel_for(ctx, cylinders.size(), 64, [&](std::size_t begin, std::size_t end) {
    std::vector<double> away;
    for (std::size_t i = begin; i < end; ++i) {
      const QsmCylinder& c = cylinders[i];
      const Vec3d edge = c.end - c.start;
      const double length = c.length_m();
      if (!(length > 0) || owned.first[i + 1] == owned.first[i]) continue;
      away.clear();
      for (std::uint64_t k = owned.first[i]; k < owned.first[i + 1]; ++k) {
        const Vec3d across = cross(points[owned.point[k]] - c.start, edge);
        away.push_back(std::sqrt(dot(across, across)) / length);
      }
      const auto middle = away.begin() + static_cast<std::ptrdiff_t>(away.size() / 2);
      std::nth_element(away.begin(), middle, away.end());
      width[i] = *middle;
    }
  });
  return width;
}

std::vector<QsmCylinder> join_short(const std::vector<QsmCylinder>& cylinders,
                                    const std::vector<double>& width, double least_m, double per_width) {
  constexpr double kLeastWidth = 0.002;
  const CylinderChildren children = cylinder_children(cylinders);
  struct Sum {
    double length = 0, width = 0, known = 0;  // `width` is weighted by the length where it is known
    double inside = 0;                        // width of the carrier
    double mean() const { return known > 0 ? width / known : 0; }
  };
  std::vector<QsmCylinder> out;
  std::vector<Sum> sums;
  std::vector<std::size_t> target(cylinders.size());
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    const QsmCylinder& c = cylinders[i];
    const auto parent = static_cast<std::size_t>(c.parent_id);
    bool joins = c.parent_id >= 0 && children.first[parent + 1] - children.first[parent] == 1;
    if (joins) {
      const Sum& sum = sums[target[parent]];
      joins = sum.length < sum.inside + std::max(least_m, per_width * sum.mean());
    }
    if (joins) {
      target[i] = target[parent];
      out[target[i]].end = c.end;
    } else {
      target[i] = out.size();
      out.push_back(c);
      out.back().cyl_id = static_cast<std::int64_t>(target[i]);
      if (c.parent_id >= 0) out.back().parent_id = static_cast<std::int64_t>(target[parent]);
      sums.push_back({});
      if (c.parent_id >= 0 && cylinders[parent].shoot_id != c.shoot_id)
        sums.back().inside = sums[target[parent]].mean();
    }
    Sum& sum = sums[target[i]];
    const double length = c.length_m();
    sum.length += length;
    const bool is_inside = sum.length < sum.inside && children.first[i + 1] > children.first[i];
    if (!std::isfinite(width[i]) || is_inside) continue;
    sum.width += length * width[i];
    sum.known += length;
  }
  for (std::size_t i = 0; i < out.size(); ++i)
    if (sums[i].known > 0) out[i].radius = std::max(kLeastWidth, sums[i].mean());
  return out;
}

void reach_ends(std::vector<QsmCylinder>& cylinders, const FittedSurface& surface, double most_m) {
  std::vector<std::uint8_t> carries(cylinders.size(), 0);
  for (const QsmCylinder& c : cylinders)
    if (c.parent_id >= 0) carries[static_cast<std::size_t>(c.parent_id)] = 1;
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    QsmCylinder& c = cylinders[i];
    const double length = c.length_m();
    if (!(length > 0)) continue;
    const Vec3d along = (c.end - c.start) * (1 / length);
    if (c.parent_id < 0) c.start = c.start - along * std::min(most_m, surface.before_m[i]);
    if (carries[i] == 0) c.end = c.end + along * std::min(most_m, surface.beyond_m[i]);
  }
}

void connect_axes(std::vector<QsmCylinder>& cylinders) {
  for (QsmCylinder& c : cylinders) {
    if (c.parent_id < 0) continue;
    QsmCylinder& parent = cylinders[static_cast<std::size_t>(c.parent_id)];
    if (parent.shoot_id != c.shoot_id) continue;
    parent.end = c.start = (parent.end + c.start) * 0.5;
  }
}

}  // namespace pc
