#include "ops/trees/stem_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/polled_sort.h"

namespace pc {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kWindowRadii = 1.5, kWindowRoom = 0.10;      // points this near the last centre may be stem
constexpr double kLeastRatio = 0.5, kMostRatio = 1.5;         // of consecutive radii
constexpr double kResidualPart = 0.1, kLeastResidual = 0.01;  // of the radius, metres
constexpr double kSameGround = 0.05, kFootHeight = 0.5;
constexpr int kBaseRounds = 3, kGroundPoints = 16;
constexpr std::size_t kAxisCenters = 3;
constexpr std::size_t kPollPoints = 1 << 16;
constexpr double kMostSections = 1e12;  // beyond them heights have no digits left
constexpr std::size_t kMostSectionPoints =
    20'000;  // a circle through more is not better, only slower to cancel

/// The points of a tree sorted along a direction, to cut slices.
class Slices {
 public:
  /// origin, u, v, w: a right-handed frame; w is the direction.
  Slices(Span<const Vec3d> points, const Vec3d& origin, const Vec3d& u, const Vec3d& v, const Vec3d& w,
         const OpContext& ctx)
      : along_(points.size), flat_(points.size) {
    std::vector<std::size_t> order(points.size);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<double> height(points.size);
    for (std::size_t i = 0; i < points.size; ++i) {
      if (i % kPollPoints == 0) ctx.checkpoint();
      height[i] = dot(points[i] - origin, w);
    }
    polled_stable_sort(
        order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return height[a] < height[b]; }, ctx);
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i % kPollPoints == 0) ctx.checkpoint();
      const Vec3d p = points[order[i]] - origin;
      along_[i] = height[order[i]];
      flat_[i] = {dot(p, u), dot(p, v)};
    }
  }

  double top() const { return along_.back(); }
  /// Height of the first point at or above one; infinite above the top.
  double next(double at) const {
    const auto found = std::lower_bound(along_.begin(), along_.end(), at);
    return found == along_.end() ? HUGE_VAL : *found;
  }
  /// Points whose height differs from `at` by less than half the thickness.
  Span<const Vec2d> slice(double at, double thickness) const {
    const auto low = std::lower_bound(along_.begin(), along_.end(), at - thickness / 2);
    const auto high = std::lower_bound(low, along_.end(), at + thickness / 2);
    return {flat_.data() + (low - along_.begin()), static_cast<std::size_t>(high - low)};
  }

 private:
  std::vector<double> along_;
  std::vector<Vec2d> flat_;
};

std::vector<Vec2d> within(Span<const Vec2d> points, const Vec2d& center, double radius) {
  std::vector<Vec2d> near;
  for (const Vec2d& p : points) {
    const double dx = p.x - center.x, dy = p.y - center.y;
    if (dx * dx + dy * dy <= radius * radius) near.push_back(p);
  }
  return near;
}

double median_of(std::vector<double> values) {
  const std::size_t middle = values.size() / 2;
  std::sort(values.begin(), values.end());
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Where the stem was last seen.
struct Place {
  Vec2d center;
  double radius;
};

/// The axis x = x0 + bx z, y = y0 + by z of heights above the frame's origin.
struct Axis {
  double x0, y0, bx, by;
  Vec2d at(double z) const { return {x0 + bx * z, y0 + by * z}; }
};

class Measuring {
 public:
  Measuring(Span<const Vec3d> points, const TreeGround& ground, const StemParams& params, OpContext& ctx)
      : points_(points), ground_(ground), params_(params), ctx_(ctx) {
    const Vec2d foot = foot_of();
    origin_ = {foot.x, foot.y, ground.lowest()};
  }

  Stem run() {
    const Slices level(points_, origin_, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, ctx_);
    Stem stem{};
    double ground = under({0, 0}).z;
    std::optional<Place> seed = find_seed(level, ground);
    if (seed) {
      const double under_seed = under(seed->center).z;
      if (std::abs(under_seed - ground) > kSameGround) {
        ground = under_seed;
        if (const auto again = find_seed(level, ground)) seed = again;
      }
    }
    const Axis axis = seed ? follow_axis(level, ground, *seed) : Axis{0, 0, 0, 0};
    set_base(stem, axis, ground);
    stem.found = seed.has_value();
    stem.reference_z = stem.seed_radius = std::nan("");
    if (!seed) return stem;
    stem.seed_radius = seed->radius;
    stem.reference_z = highest_ground(stem, seed->radius);
    across_ = frame_of(stem.axis);
    const Slices slices(points_, stem.base, across_[0], across_[1], stem.axis, ctx_);
    follow_curve(stem, slices, seed->radius);
    measure_breast_height(stem, slices, seed->radius);
    return stem;
  }

 private:
  /// Mean place of the points within kFootHeight of the lowest one.
  Vec2d foot_of() const {
    double x = 0, y = 0;
    std::size_t count = 0;
    const Vec3d first = points_[0];
    for (const Vec3d& p : points_) {
      if (p.z > ground_.lowest() + kFootHeight) continue;
      x += p.x - first.x;
      y += p.y - first.y;
      ++count;
    }
    return {first.x + x / static_cast<double>(count), first.y + y / static_cast<double>(count)};
  }

  /// Ground under a place of the level frame, as a height above its origin.
  TreeGround::Answer under(const Vec2d& place) const {
    TreeGround::Answer answer = ground_.at({origin_.x + place.x, origin_.y + place.y});
    answer.z -= origin_.z;
    return answer;
  }

  std::optional<FittedCircle> circle_in(Span<const Vec2d> points) {
    ctx_.checkpoint();
    ++sections_;
    std::vector<Vec2d> chosen;
    if (points.size > kMostSectionPoints) {
      for (std::size_t i = 0; i < points.size; i += points.size / kMostSectionPoints + 1)
        chosen.push_back(points[i]);
      points = {chosen.data(), chosen.size()};
    }
    return fit_circle(
        points, {params_.search, params_.inlier_distance_m, params_.min_radius_m, params_.max_radius_m,
                 params_.min_slice_points, params_.seed * 1'000'003 + sections_, params_.ellipticity_square});
  }

  bool has_high_residual(const FittedCircle& circle) const {
    return circle.rms_m > std::max(kLeastResidual, kResidualPart * circle.radius);
  }

  static bool fits(double radius, double before) {
    return radius >= kLeastRatio * before && radius <= kMostRatio * before;
  }

  std::optional<Place> find_seed(const Slices& level, double ground) {
    std::vector<double> x, y, radius;
    for (int i = 0;; ++i) {
      const double height = params_.seed_min_m + i * params_.seed_step_m;
      if (height > params_.seed_max_m + 1e-9) break;
      const auto circle = circle_in(level.slice(ground + height, params_.slice_thickness_m));
      if (!circle) continue;
      x.push_back(circle->center.x);
      y.push_back(circle->center.y);
      radius.push_back(circle->radius);
    }
    if (x.empty()) return std::nullopt;
    return Place{{median_of(x), median_of(y)}, median_of(radius)};
  }

  Axis follow_axis(const Slices& level, double ground, const Place& seed) {
    std::vector<Vec3d> centers;
    Place at = seed;
    std::uint32_t failures = 0;
    for (int i = 0;; ++i) {
      const double height = params_.seed_min_m + i * params_.seed_step_m;
      if (height > params_.lean_fit_max_m + 1e-9) break;
      const auto near = within(level.slice(ground + height, params_.slice_thickness_m), at.center,
                               kWindowRadii * at.radius + kWindowRoom);
      const auto circle = circle_in({near.data(), near.size()});
      if (circle && fits(circle->radius, at.radius) && !has_high_residual(*circle)) {
        centers.push_back({circle->center.x, circle->center.y, ground + height});
        at = {circle->center, circle->radius};
        failures = 0;
      } else if (!centers.empty() && ++failures >= params_.max_failures) {
        break;
      }
    }
    if (centers.size() < kAxisCenters) return {seed.center.x, seed.center.y, 0, 0};
    return line_through(centers);
  }

  static Axis line_through(const std::vector<Vec3d>& centers) {
    const auto n = static_cast<double>(centers.size());
    Vec3d mean{0, 0, 0};
    for (const Vec3d& c : centers) mean = mean + c * (1 / n);
    double zz = 0, xz = 0, yz = 0;
    for (const Vec3d& c : centers) {
      const Vec3d d = c - mean;
      zz += d.z * d.z;
      xz += d.x * d.z;
      yz += d.y * d.z;
    }
    const double bx = xz / zz, by = yz / zz;
    return {mean.x - bx * mean.z, mean.y - by * mean.z, bx, by};
  }

  /// Where the axis meets the ground.
  void set_base(Stem& stem, const Axis& axis, double ground) const {
    TreeGround::Answer found{ground, GroundSource::kTreeMinimum};
    for (int round = 0; round < kBaseRounds; ++round) found = under(axis.at(found.z));
    const Vec2d place = axis.at(found.z);
    const double length = std::sqrt(axis.bx * axis.bx + axis.by * axis.by + 1);
    stem.axis = {axis.bx / length, axis.by / length, 1 / length};
    stem.base = {origin_.x + place.x, origin_.y + place.y, origin_.z + found.z};
    stem.ground = {stem.base.z, found.source};
  }

  double highest_ground(const Stem& stem, double radius) const {
    double highest = stem.base.z;
    for (int i = 0; i < kGroundPoints; ++i) {
      const double angle = 2 * kPi * i / kGroundPoints;
      const Vec2d place{stem.base.x + radius * std::cos(angle), stem.base.y + radius * std::sin(angle)};
      highest = std::max(highest, ground_.at(place).z);
    }
    return highest;
  }

  /// Two unit vectors across the axis.
  static std::array<Vec3d, 2> frame_of(const Vec3d& axis) {
    const Vec3d level = std::abs(axis.x) < 0.9 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
    Vec3d u = level - axis * dot(level, axis);
    u = u * (1 / std::sqrt(dot(u, u)));
    return {u, cross(axis, u)};
  }

  std::optional<StemSection> section_at(const Slices& slices, const Stem& stem, double axial,
                                        double thickness, const Place& last) {
    const auto near =
        within(slices.slice(axial, thickness), last.center, kWindowRadii * last.radius + kWindowRoom);
    const auto circle = circle_in({near.data(), near.size()});
    if (!circle) return std::nullopt;
    StemSection out{};
    out.axial_m = axial;
    out.center =
        stem.base + stem.axis * axial + across_[0] * circle->center.x + across_[1] * circle->center.y;
    out.circle = *circle;
    out.thickness_m = thickness;
    out.point_count = near.size();
    out.few_points = circle->inlier_count < params_.min_inliers;
    out.partial_arc = circle->arc_coverage < params_.partial_arc_coverage;
    out.high_residual = has_high_residual(*circle);
    out.ok = !out.few_points && !out.high_residual && fits(circle->radius, last.radius);
    return out;
  }

  void follow_curve(Stem& stem, const Slices& slices, double seed_radius) {
    Place last{{0, 0}, seed_radius};
    std::uint32_t failures = 0;
    bool any = false;
    for (double i = 0;; ++i) {
      if (!any) i = std::max(i, first_section(slices, i));
      const double axial = params_.curve_start_m + i * params_.curve_step_m;
      if (!(axial <= slices.top()) || i > kMostSections) break;
      const auto section = section_at(slices, stem, axial, params_.slice_thickness_m, last);
      if (section) stem.curve.push_back(*section);
      if (section && section->ok) {
        last = {section->circle.center, section->circle.radius};
        any = true;
        failures = 0;
      } else if (any && ++failures >= params_.max_failures) {
        break;
      }
    }
  }

  /// The first section from the i-th on whose slice has a point.
  double first_section(const Slices& slices, double i) const {
    const double half = params_.slice_thickness_m / 2;
    const double point = slices.next(params_.curve_start_m + i * params_.curve_step_m - half);
    return std::ceil((point - half - params_.curve_start_m) / params_.curve_step_m);
  }

  void measure_breast_height(Stem& stem, const Slices& slices, double seed_radius) {
    const double axial = (stem.reference_z - stem.base.z) / stem.axis.z + params_.breast_height_m;
    Place expected{{0, 0}, seed_radius};
    double nearest = HUGE_VAL;
    for (const StemSection& section : stem.curve) {
      const double distance = std::abs(section.axial_m - axial);
      if (!section.ok || distance >= nearest) continue;
      nearest = distance;
      expected = {section.circle.center, section.circle.radius};
    }
    std::vector<double> thicknesses{params_.slice_thickness_m};
    thicknesses.insert(thicknesses.end(), params_.widened.begin(), params_.widened.end());
    double chosen = thicknesses.front();
    for (const double thickness : thicknesses) {
      chosen = thickness;
      const double reach = kWindowRadii * expected.radius + kWindowRoom;
      if (within(slices.slice(axial, thickness), expected.center, reach).size() >= params_.min_inliers) break;
    }
    stem.breast_height = section_at(slices, stem, axial, chosen, expected);
  }

  Span<const Vec3d> points_;
  const TreeGround& ground_;
  const StemParams& params_;
  OpContext& ctx_;
  Vec3d origin_{0, 0, 0};
  std::array<Vec3d, 2> across_{};
  std::uint64_t sections_ = 0;
};

}  // namespace

Stem measure_stem(Span<const Vec3d> points, const TreeGround& ground, const StemParams& params,
                  OpContext& ctx) {
  require(points.size > 0, "a tree needs points");
  require(params.seed_step_m > 0 && params.curve_step_m > 0 && params.slice_thickness_m > 0,
          "steps and the thickness of slices must be above 0");
  return Measuring(points, ground, params, ctx).run();
}

double stem_radius_at(const Stem& stem, double axial_m) {
  const StemSection* below = nullptr;
  for (const StemSection& section : stem.curve) {
    if (!section.ok) continue;
    if (section.axial_m >= axial_m) {
      if (below == nullptr) return section.circle.radius;
      const double part = (axial_m - below->axial_m) / (section.axial_m - below->axial_m);
      return below->circle.radius + part * (section.circle.radius - below->circle.radius);
    }
    below = &section;
  }
  if (below != nullptr) return below->circle.radius;
  return stem.breast_height ? stem.breast_height->circle.radius : std::nan("");
}

}  // namespace pc
