#include "ops/qsm/stem_stretches.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "core/linear_solve.h"
#include "core/parallel.h"
#include "ops/trees/circle_evidence.h"
#include "ops/trees/stem_frame.h"
#include "ops/trees/stem_girth.h"

namespace pc {

namespace {

constexpr double kStep = 0.5;           // metres between the middles of stretches, at most
constexpr double kReach = 1.8;          // metres to each side that a stretch may use, and half a cylinder
constexpr double kNear = 0.5;           // metres around the middle that tell where the circle is expected
constexpr double kLeastLength = 1.0;    // of a stem, metres
constexpr double kLeastRadius = 0.015;  // metres
constexpr double kSeenAround = 0.75;    // of the circle: a cylinder by itself is enough
constexpr double kMostScatter = 0.01;   // about the surface, metres; of points in branches 0.02 and more
constexpr double kMostError = 0.15;     // of the radius
constexpr double kInlier = 0.02;        // metres
constexpr double kEllipticitySquare = 0.0025;  // that of the inventory
constexpr double kThinnest = 0.005, kThickest = 1.5;
constexpr double kWindowRadii = 1.5, kWindowRoom = 0.05;
constexpr std::size_t kFewestPoints = 8, kMostPoints = 20'000, kBendCylinders = 5;

Vec3d middle(const QsmCylinder& c) { return (c.start + c.end) * 0.5; }

double median_of(std::vector<double> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// The cylinders of a stem, base to tip, and where their middles are along it.
struct Stem {
  std::vector<std::size_t> ids;
  std::vector<double> along;
  double length = 0;
};

std::vector<Stem> stems_of(const std::vector<QsmCylinder>& seeds) {
  std::map<std::int64_t, Stem> by_shoot;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    if (seeds[i].rank != 0) continue;
    Stem& stem = by_shoot[seeds[i].shoot_id];
    const double length = seeds[i].length_m();
    stem.ids.push_back(i);
    stem.along.push_back(stem.length + length / 2);
    stem.length += length;
  }
  std::vector<Stem> out;
  for (auto& [shoot, stem] : by_shoot)
    if (stem.length >= kLeastLength) out.push_back(std::move(stem));
  return out;
}

/// Where a stretch has its middle: a cylinder of a stem.
struct Middle {
  const Stem* stem;
  std::size_t at;  ///< in the stem's lists
  double along() const { return stem->along[at]; }
};

std::vector<Middle> middles_of(const std::vector<Stem>& stems) {
  std::vector<Middle> out;
  for (const Stem& stem : stems) {
    const auto most = static_cast<double>(stem.ids.size());
    const auto count = static_cast<std::size_t>(std::fmin(std::ceil(stem.length / kStep), most));
    for (std::size_t k = 0; k < count; ++k) {
      const double where = stem.length * (static_cast<double>(k) + 0.5) / static_cast<double>(count);
      const auto after = std::lower_bound(stem.along.begin(), stem.along.end(), where);
      auto at = std::min(static_cast<std::size_t>(after - stem.along.begin()), stem.ids.size() - 1);
      if (at > 0 && where - stem.along[at - 1] < stem.along[at] - where) --at;
      if (out.empty() || out.back().stem != &stem || out.back().at != at) out.push_back({&stem, at});
    }
  }
  return out;
}

/// The square part of values over places: coefficients of s^2.
double bend_of(const std::vector<double>& s, const std::vector<double>& values) {
  if (s.size() < kBendCylinders) return 0;
  std::vector<double> rows;
  for (const double one : s) rows.insert(rows.end(), {1, one, one * one});
  return solve_least_squares({{rows.data(), rows.size()}, s.size(), 3}, {values.data(), values.size()}).x[2];
}

/// One stretch of a stem, in the frame of its middle.
class Stretch {
 public:
  Stretch(const Middle& at, const std::vector<QsmCylinder>& seeds, const std::vector<QsmCylinder>& fitted,
          const FittedSurface& surface)
      : at_(at), seeds_(seeds), fitted_(fitted), surface_(surface), low_(at.at), high_(at.at) {
    const std::vector<double>& along = at.stem->along;
    while (low_ > 0 && at.along() - along[low_ - 1] <= kReach) --low_;
    while (high_ + 1 < along.size() && along[high_ + 1] - at.along() <= kReach) ++high_;
  }

  std::optional<StemGirth> girth(Span<const Vec3d> points, std::uint64_t seed) {
    std::vector<double> x, y, radius, arc;
    if (!turn()) return std::nullopt;
    for (std::size_t k = low_; k <= high_; ++k) {
      const std::size_t id = at_.stem->ids[k];
      if (!is_near(k) || surface_.point_count[id] < kFewestPoints) continue;
      const Vec3d place = local(middle(fitted_[id]));
      x.push_back(place.x);
      y.push_back(place.y);
      radius.push_back(fitted_[id].radius);
      arc.push_back(surface_.arc_cov[id]);
    }
    if (radius.empty() || median_of(radius) < kLeastRadius || median_of(arc) >= kSeenAround)
      return std::nullopt;
    const std::vector<Vec3d> straight = straightened(points);
    const auto near = [&](const PlainCircle& circle, double half_m) {
      const double reach = kWindowRadii * circle.radius + kWindowRoom;
      std::vector<Vec3d> out;
      for (const Vec3d& p : straight) {
        const double dx = p.x - circle.center.x, dy = p.y - circle.center.y;
        if (std::abs(p.z) <= half_m && dx * dx + dy * dy <= reach * reach) out.push_back(p);
      }
      return out;
    };
    const CircleFitParams params{CircleSearch::kRansac, kInlier, kThinnest,          kThickest,
                                 kFewestPoints,         seed,    kEllipticitySquare, false};
    const PlainCircle middle{{median_of(x), median_of(y)}, median_of(radius)};
    const auto found = measure_stem_girth(near, middle, middle, 0, params);
    if (!found || found->misfit > kMostScatter * kMostScatter || found->sigma > kMostError * found->radius)
      return std::nullopt;
    const double window = kWindowRadii * found->radius + kWindowRoom;
    const std::vector<Vec3d> around = near({found->center, found->radius}, found->half_length_m);
    if (is_two_columns(
            circle_evidence({around.data(), around.size()}, found->center, found->radius, kInlier, window)))
      return std::nullopt;
    return found;
  }

 private:
  bool is_near(std::size_t k) const { return std::abs(at_.stem->along[k] - at_.along()) <= kNear; }
  const QsmCylinder& seed(std::size_t k) const { return seeds_[at_.stem->ids[k]]; }
  Vec3d local(const Vec3d& p) const {
    const Vec3d d = p - origin_;
    return {dot(d, across_[0]), dot(d, across_[1]), dot(d, axis_)};
  }

  /// False: no direction.
  bool turn() {
    std::size_t first = high_, last = low_;
    for (std::size_t k = low_; k <= high_; ++k) {
      if (!is_near(k)) continue;
      first = std::min(first, k);
      last = std::max(last, k);
    }
    const Vec3d chord = seed(last).end - seed(first).start;
    const double length = std::sqrt(dot(chord, chord));
    if (!(length > 0)) return false;
    origin_ = middle(seed(at_.at));
    axis_ = chord * (1 / length);
    across_ = stem_frame(axis_);
    return true;
  }

  /// The points of the cylinders, along a straight axis.
  std::vector<Vec3d> straightened(Span<const Vec3d> points) const {
    std::vector<double> s, x, y;
    std::uint64_t count = 0;
    for (std::size_t k = low_; k <= high_; ++k) {
      const Vec3d place = local(middle(seed(k)));
      s.push_back(place.z);
      x.push_back(place.x);
      y.push_back(place.y);
      const std::size_t id = at_.stem->ids[k];
      count += surface_.first[id + 1] - surface_.first[id];
    }
    const double bend_x = bend_of(s, x), bend_y = bend_of(s, y);
    const std::uint64_t step = count / kMostPoints + 1;
    std::vector<Vec3d> out;
    for (std::size_t k = low_; k <= high_; ++k) {
      const std::size_t id = at_.stem->ids[k];
      for (std::uint64_t row = surface_.first[id]; row < surface_.first[id + 1]; row += step) {
        const Vec3d p = local(points[surface_.point[row]]);
        out.push_back({p.x - bend_x * p.z * p.z, p.y - bend_y * p.z * p.z, p.z});
      }
    }
    return out;
  }

  const Middle& at_;
  const std::vector<QsmCylinder>&seeds_, &fitted_;
  const FittedSurface& surface_;
  std::size_t low_, high_;
  Vec3d origin_{0, 0, 0}, axis_{0, 0, 1};
  std::array<Vec3d, 2> across_{};
};

StretchRadius between(const StretchRadius& a, const StretchRadius& b, double share) {
  const auto mixed = [&](double low, double high) { return low + share * (high - low); };
  return {mixed(a.radius_m, b.radius_m), mixed(a.sigma_m, b.sigma_m), mixed(a.oval_m, b.oval_m),
          mixed(a.sharing, b.sharing)};
}

/// A girth at its place, and how many cylinders of the stem share it.
struct Measured {
  double along;
  StretchRadius radius;
};

/// Gives the cylinders of a stem their radii; nothing where the next girth is far.
void spread(const Stem& stem, const std::vector<Measured>& girths, std::vector<StretchRadius>& out) {
  for (std::size_t k = 0; k < stem.ids.size(); ++k) {
    const std::size_t id = stem.ids[k];
    const double along = stem.along[k];
    const auto after = std::lower_bound(girths.begin(), girths.end(), along,
                                        [](const Measured& m, double where) { return m.along < where; });
    const bool has_after = after != girths.end() && after->along - along <= kStep;
    const bool has_before = after != girths.begin() && along - std::prev(after)->along <= kStep;
    if (has_after && has_before) {
      const Measured& before = *std::prev(after);
      out[id] = between(before.radius, after->radius, (along - before.along) / (after->along - before.along));
    } else if (has_after || has_before) {
      out[id] = has_after ? after->radius : std::prev(after)->radius;
    }
  }
}

}  // namespace

std::vector<StretchRadius> stem_stretches(const std::vector<QsmCylinder>& seeds,
                                          const std::vector<QsmCylinder>& fitted,
                                          const FittedSurface& surface, Span<const Vec3d> points,
                                          OpContext& ctx) {
  const std::vector<Stem> stems = stems_of(seeds);
  const std::vector<Middle> middles = middles_of(stems);
  std::vector<std::optional<StemGirth>> girths(middles.size());
  parallel_for(ctx, middles.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t m = begin; m < end && !ctx.canceled(); ++m)
      girths[m] = Stretch(middles[m], seeds, fitted, surface).girth(points, m + 1);
  });
  std::vector<StretchRadius> out(seeds.size());
  for (const Stem& stem : stems) {
    std::vector<Measured> measured;
    for (std::size_t m = 0; m < middles.size(); ++m) {
      if (middles[m].stem != &stem || !girths[m]) continue;
      const double along = middles[m].along(), half = std::max(girths[m]->half_length_m, kStep / 2);
      const auto sharing = std::count_if(stem.along.begin(), stem.along.end(),
                                         [&](double where) { return std::abs(where - along) <= half; });
      measured.push_back(
          {along,
           {girths[m]->radius, girths[m]->sigma, girths[m]->oval_sigma, static_cast<double>(sharing)}});
    }
    spread(stem, measured, out);
  }
  return out;
}

}  // namespace pc
