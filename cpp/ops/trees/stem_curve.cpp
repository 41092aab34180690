#include "ops/trees/stem_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "ops/trees/stem_frame.h"
#include "ops/trees/stem_girth.h"
#include "ops/trees/stem_slices.h"

namespace pc {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kWindowRadii = 1.5, kWindowRoom = 0.10;      // points this near the last centre may be stem
constexpr double kLeastRatio = 0.5, kMostRatio = 1.5;         // of consecutive radii
constexpr double kResidualPart = 0.1, kLeastResidual = 0.01;  // of the radius, metres
constexpr double kSameGround = 0.05, kFootHeight = 0.5;
constexpr int kBaseRounds = 3, kGroundPoints = 16;
constexpr std::size_t kAxisCenters = 3;
constexpr double kMostSections = 1e12;  // beyond them heights have no digits left
constexpr std::size_t kMostStretchPoints = 100'000;
constexpr std::size_t kMostSectionPoints =
    20'000;                        // a circle through more is not better, only slower to cancel
constexpr double kMostLean = 0.3;  // metres per metre
constexpr double kNearSections = 1.0;
constexpr double kOtherRadius = 0.25;  // part of a radius: such a circle is another one
constexpr double kLeastHeight = 0.3;   // of the stretch above the base: the foot widens

/// At most `most` of the points, evenly chosen along their order.
template <class Point>
std::vector<Point> even_choice(Span<const Point> points, std::size_t most) {
  std::vector<Point> chosen;
  for (std::size_t i = 0; i < points.size; i += points.size / (most + 1) + 1) chosen.push_back(points[i]);
  return chosen;
}

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

/// See StemSection::scatter_m.
double scatter_about(const PlainCircle& circle, Span<const Vec2d> points) {
  constexpr double kRoomPart = 0.3,
                   kDeviation = 1.4826;  // of a normal distribution with a median distance of 1
  const double room = std::max(kScatterRoom, kRoomPart * circle.radius);
  std::vector<double> off;
  for (const Vec2d& p : points) {
    const double distance =
        std::abs(std::hypot(p.x - circle.center.x, p.y - circle.center.y) - circle.radius);
    if (distance <= room) off.push_back(distance);
  }
  return off.empty() ? std::nan("") : kDeviation * median_of(std::move(off));
}

PlainCircle plain(const FittedCircle& circle) { return {circle.center, circle.radius}; }

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

  /// Of a tree whose stem is not seen.
  Stem unseen() {
    Stem stem{};
    stem.reference_z = stem.seed_radius = std::nan("");
    set_base(stem, upright_axis(), under({0, 0}).z);
    return stem;
  }

  Stem run() {
    const Slices level(points_, origin_, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, ctx_);
    Stem stem{};
    double ground = under({0, 0}).z;
    std::optional<Place> seed = params_.start ? given_seed() : find_seed(level, ground);
    if (params_.start) {
      ground = under(seed->center).z;
    } else if (seed) {
      const double under_seed = under(seed->center).z;
      if (std::abs(under_seed - ground) > kSameGround) {
        ground = under_seed;
        if (const auto again = find_seed(level, ground)) seed = again;
      }
    }
    const Axis axis = seed ? follow_axis(level, ground, *seed) : upright_axis();
    set_base(stem, axis, ground);
    stem.found = seed.has_value();
    stem.reference_z = stem.seed_radius = std::nan("");
    if (!seed) return stem;
    stem.seed_radius = seed->radius;
    stem.reference_z = highest_ground(stem, seed->radius);
    across_ = stem_frame(stem.axis);
    const Slices slices(points_, stem.base, across_[0], across_[1], stem.axis, ctx_);
    follow_curve(stem, slices, seed->radius);
    measure_breast_height(stem, slices, seed->radius);
    return stem;
  }

 private:
  /// Of a tree whose stem is not seen.
  Axis upright_axis() const {
    if (!ground_.top()) return {0, 0, 0, 0};
    return {ground_.top()->x - origin_.x, ground_.top()->y - origin_.y, 0, 0};
  }

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
    ctx_.checkpoint();
    TreeGround::Answer answer = ground_.at({origin_.x + place.x, origin_.y + place.y});
    answer.z -= origin_.z;
    return answer;
  }

  std::optional<FittedCircle> circle_in(Span<const Vec2d> points) {
    ctx_.checkpoint();
    ++sections_;
    const std::vector<Vec2d> chosen = even_choice(points, kMostSectionPoints);
    return fit_circle({chosen.data(), chosen.size()}, circle_params());
  }

  CircleFitParams circle_params() const {
    return {params_.search,
            params_.inlier_distance_m,
            params_.min_radius_m,
            params_.max_radius_m,
            params_.min_slice_points,
            params_.seed * 1'000'003 + sections_,
            params_.ellipticity_square,
            true,
            params_.inlier_part};
  }

  /// Points closer than this to a circle of that radius belong to it.
  double distance_of(double radius) const {
    return std::max(params_.inlier_distance_m, params_.inlier_part * radius);
  }

  bool has_high_residual(const FittedCircle& circle) const {
    return circle.rms_m > std::max(kLeastResidual, kResidualPart * circle.radius);
  }

  static bool fits(double radius, double before) {
    return radius >= kLeastRatio * before && radius <= kMostRatio * before;
  }

  Place given_seed() const {
    const StemStart& start = *params_.start;
    return {{start.place.x - origin_.x, start.place.y - origin_.y}, start.radius_m};
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
    if (centers.size() < kAxisCenters) return line_along_surface(level, ground, seed);
    return line_through(centers);
  }

  /// Without circles, the middles of the slices' points follow the side of the stem that is seen, which has the
  /// direction of the axis.
  Axis line_along_surface(const Slices& level, double ground, const Place& seed) const {
    std::vector<Vec3d> middles;
    const double middle = ground + (params_.seed_min_m + params_.seed_max_m) / 2;
    for (int i = 0;; ++i) {
      const double height = ground + params_.seed_min_m + i * params_.seed_step_m;
      if (params_.seed_min_m + i * params_.seed_step_m > params_.seed_max_m + 1e-9) break;
      const double reach = kWindowRadii * seed.radius + kWindowRoom + kMostLean * std::abs(height - middle);
      std::vector<double> x, y;
      for (const Vec2d& p : within(level.slice(height, params_.slice_thickness_m), seed.center, reach)) {
        x.push_back(p.x);
        y.push_back(p.y);
      }
      if (x.size() >= params_.min_slice_points) middles.push_back({median_of(x), median_of(y), height});
    }
    if (middles.size() < kAxisCenters) return {seed.center.x, seed.center.y, 0, 0};
    const Axis line = line_through(middles);
    return {seed.center.x - line.bx * middle, seed.center.y - line.by * middle, line.bx, line.by};
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
      ctx_.checkpoint();
      const double angle = 2 * kPi * i / kGroundPoints;
      const Vec2d place{stem.base.x + radius * std::cos(angle), stem.base.y + radius * std::sin(angle)};
      highest = std::max(highest, ground_.at(place).z);
    }
    return highest;
  }

  std::optional<StemSection> section_at(const Slices& slices, const Stem& stem, double axial,
                                        double thickness, const Place& last) {
    auto near = within(slices.slice(axial, thickness), last.center, kWindowRadii * last.radius + kWindowRoom);
    auto circle = circle_in({near.data(), near.size()});
    if (!circle) return std::nullopt;
    StemSection out{};
    if (const auto bark = covered_bark({near.data(), near.size()},
                                       {plain(*circle), {last.center, last.radius}}, circle_params())) {
      std::erase_if(near, [&](const Vec2d& p) { return is_cover(p, *bark); });
      if (const auto own = refine_circle({near.data(), near.size()}, bark->circle, circle_params()))
        circle = own;
      out.covered = true;
    }
    out.axial_m = axial;
    out.thickness_m = thickness;
    set_circle(out, stem, *circle, {near.data(), near.size()});
    out.ok = !out.few_points && !out.high_residual && fits(circle->radius, last.radius);
    return out;
  }

  void set_circle(StemSection& section, const Stem& stem, const FittedCircle& circle,
                  Span<const Vec2d> points) const {
    section.center =
        stem.base + stem.axis * section.axial_m + across_[0] * circle.center.x + across_[1] * circle.center.y;
    section.circle = circle;
    section.point_count = points.size;
    section.scatter_m = scatter_about({circle.center, circle.radius}, points);
    section.few_points = circle.inlier_count < params_.min_inliers;
    section.partial_arc = circle.arc_coverage < params_.partial_arc_coverage;
    section.high_residual = has_high_residual(circle);
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

  /// Median of the trusted sections within kNearSections, else the nearest one, else the seed.
  static Place expected_at(const Stem& stem, double axial, double seed_radius) {
    std::vector<double> x, y, radius;
    Place place{{0, 0}, seed_radius};
    double nearest = HUGE_VAL;
    for (const StemSection& section : stem.curve) {
      const double distance = std::abs(section.axial_m - axial);
      if (!section.ok) continue;
      if (distance <= kNearSections) {
        x.push_back(section.circle.center.x);
        y.push_back(section.circle.center.y);
        radius.push_back(section.circle.radius);
      }
      if (distance >= nearest) continue;
      nearest = distance;
      place = {section.circle.center, section.circle.radius};
    }
    return x.size() < 3 ? place : Place{{median_of(x), median_of(y)}, median_of(radius)};
  }

  void measure_breast_height(Stem& stem, const Slices& slices, double seed_radius) {
    const double axial = (stem.reference_z - stem.base.z) / stem.axis.z + params_.breast_height_m;
    const Place expected = expected_at(stem, axial, seed_radius);
    std::vector<double> thicknesses{params_.slice_thickness_m};
    thicknesses.insert(thicknesses.end(), params_.widened.begin(), params_.widened.end());
    double chosen = thicknesses.front();
    for (const double thickness : thicknesses) {
      chosen = thickness;
      const double reach = kWindowRadii * expected.radius + kWindowRoom;
      if (within(slices.slice(axial, thickness), expected.center, reach).size() >= params_.min_inliers) break;
    }
    stem.breast_height = section_at(slices, stem, axial, chosen, expected);
    if (stem.breast_height && !measure_girth(*stem.breast_height, slices, stem, expected))
      stem.breast_height.reset();
  }

  /// Measures the radius of a section on the stretch of stem around it. False: points of the section lie within it or in
  /// patches.
  bool measure_girth(StemSection& section, const Slices& slices, const Stem& stem, const Place& expected) {
    const auto stretch = [&](const PlainCircle& at, double half) {
      const double down = std::min(half, std::max(section.axial_m - kLeastHeight, section.thickness_m / 2));
      const auto all = slices.stretch(section.axial_m + (half - down) / 2, half + down, at.center,
                                      kWindowRadii * at.radius + kWindowRoom);
      ctx_.checkpoint();
      return even_choice(Span<const Vec3d>{all.data(), all.size()}, kMostStretchPoints);
    };
    ++sections_;
    const auto girth = measure_stem_girth(stretch, {expected.center, expected.radius}, plain(section.circle),
                                          section.axial_m, circle_params());
    if (!girth) {
      set_evidence(section, slices, stem.axis, {section.circle.center, section.circle.radius},
                   section.thickness_m / 2);
      return true;
    }
    auto near = within(slices.slice(section.axial_m, section.thickness_m), girth->center,
                       kWindowRadii * girth->radius + kWindowRoom);
    section.covered = girth->bark.has_value();
    if (girth->bark) std::erase_if(near, [&](const Vec2d& p) { return is_cover(p, *girth->bark); });
    // What the section itself shows of that circle. Few points lie on any circle: then another one is none of this stem.
    const std::vector<Vec2d> chosen =
        even_choice(Span<const Vec2d>{near.data(), near.size()}, kMostSectionPoints);
    const Span<const Vec2d> points{chosen.data(), chosen.size()};
    const PlainCircle known{girth->center, girth->radius};
    auto shown = refine_circle(points, known, circle_params());
    if (!shown || std::abs(shown->radius - known.radius) > kOtherRadius * known.radius)
      shown = circle_as_seen(points, known, circle_params());
    if (shown) set_circle(section, stem, *shown, {near.data(), near.size()});
    section.circle.radius = girth->radius;
    section.circle.radius_sigma = girth->sigma;
    section.scatter_m = scatter_about({girth->center, girth->radius}, {near.data(), near.size()});
    set_evidence(section, slices, stem.axis, {girth->center, girth->radius}, girth->half_length_m);
    const double distance = std::max(distance_of(girth->radius), section.scatter_m);
    const FittedCircle& circle = section.circle;
    return !is_hollow({near.data(), near.size()}, {girth->center, girth->radius}, distance) &&
           !is_patchy({circle.arc_coverage, circle.max_gap_deg}, circle.inlier_count);
  }

  /// From the stretch that far to each side.
  void set_evidence(StemSection& section, const Slices& slices, const Vec3d& axis, const PlainCircle& circle,
                    double half_length_m) const {
    const double window = kWindowRadii * circle.radius + kWindowRoom;
    const auto all = slices.stretch(section.axial_m, 2 * half_length_m, circle.center, window);
    const auto evidence = [&](Span<const Vec3d> points) {
      return circle_evidence(points, circle.center, circle.radius, distance_of(circle.radius), window);
    };
    section.evidence = evidence({all.data(), all.size()});
    const auto slice = slices.stretch(section.axial_m, section.thickness_m, circle.center, window);
    section.evidence.chance =
        std::min(section.evidence.chance, evidence({slice.data(), slice.size()}).chance);
    std::vector<Vec2d> above;  // columns stand upright, also where the axis does not
    for (const Vec3d& p : slice) {
      const double x = p.x - circle.center.x, y = p.y - circle.center.y, z = p.z - section.axial_m;
      if (std::abs(std::hypot(x, y) - circle.radius) > distance_of(circle.radius)) continue;
      const Vec3d at = across_[0] * x + across_[1] * y + axis * z;
      above.push_back({at.x, at.y});
    }
    section.columns = point_columns({above.data(), above.size()});
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

Stem unseen_stem(Span<const Vec3d> points, const TreeGround& ground, const StemParams& params,
                 OpContext& ctx) {
  require(points.size > 0, "a tree needs points");
  return Measuring(points, ground, params, ctx).unseen();
}

}  // namespace pc
