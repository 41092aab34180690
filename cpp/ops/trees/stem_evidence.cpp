#include "ops/trees/stem_evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/linear_solve.h"
#include "ops/trees/circle_evidence.h"

namespace pc {

namespace {

constexpr double kWindowRadii = 1.5, kWindowRoom = 0.10;  // as the stem curve: contract inventory section 3.3
constexpr double kResidualPart = 0.1, kLeastResidual = 0.01;  // of the radius, metres
constexpr std::size_t kLeastInliers = 15, kLeastCirclePoints = 8;
constexpr double kLeastShare = 0.3;  // of the points in the stem's disc
constexpr double kLeastHalfShift = 0.10;
constexpr double kBreastHeight = 1.3;
constexpr int kGroundRounds = 3;
constexpr std::size_t kMostFitPoints = 20'000;  // a fit to more is not better, only slower to cancel

double length(const Vec2d& p) { return std::sqrt(p.x * p.x + p.y * p.y); }

CircleFitParams circle_params(const StemDetectionParams& params, const StemSizes& sizes) {
  return {CircleSearch::kRansac,
          kStemInlierDistance,
          sizes.least_radius_m,
          std::min(sizes.most_radius_m, params.max_diameter_m / 2),
          kLeastCirclePoints,
          params.seed,
          0,
          false,
          sizes.inlier_part};
}

/// At most kMostFitPoints of the values, evenly chosen along their order.
template <class Value>
std::vector<Value> even_choice(const std::vector<Value>& values) {
  if (values.size() <= kMostFitPoints) return values;
  std::vector<Value> chosen;
  for (std::size_t i = 0; i < kMostFitPoints; ++i)
    chosen.push_back(values[i * values.size() / kMostFitPoints]);
  return chosen;
}

/// refine_circle on an even choice of the points.
std::optional<FittedCircle> circle_on(const std::vector<Vec2d>& flat, const PlainCircle& start,
                                      const CircleFitParams& params) {
  const std::vector<Vec2d> chosen = even_choice(flat);
  return refine_circle({chosen.data(), chosen.size()}, start, params);
}

/// The points of the layer around a cylinder, and where they lie across it.
struct Window {
  std::vector<LayerPoint> points;
  std::vector<Vec2d> flat;

  Window(const StemLayer& layer, const StemCylinder& cylinder, double z_min, double z_max) {
    const double reach = kWindowRadii * cylinder.radius + kWindowRoom;
    const Vec2d a = cylinder.place_at(z_min), b = cylinder.place_at(z_max);
    const AcrossAxis across(cylinder);
    layer.for_each_in({std::min(a.x, b.x) - reach, std::min(a.y, b.y) - reach},
                      {std::max(a.x, b.x) + reach, std::max(a.y, b.y) + reach}, [&](const LayerPoint& p) {
                        if (p.at.z < z_min - reach || p.at.z > z_max + reach) return;
                        const Vec2d q = across.of(p.at);
                        if (length(q) > reach) return;
                        points.push_back(p);
                        flat.push_back(q);
                      });
  }
};

// The best of many circles in leaves has up to 2.5 times as many points as its surroundings, or 5 deviations more.
constexpr double kLeastContrast = 2.5, kLeastDeviations = 6;
constexpr double kLeastCore = 0.01, kCorePart = 0.05;
constexpr double kLeastSharpness =
    3;  // times as dense in the middle of the ring as beside it: leaves reach 2.5
constexpr double kMostInside = 0.09;  // of the density in the ring
// Of circles that pass all this by chance, in limbs with needles, 97 % have fewer patches and are less sharp.
constexpr double kLeastPatches = 0.75, kLeastPatchesOfAll = 0.6, kPatchySharpness = 20;

/// How far a section differs from its circle: cosine cos 2 phi + sine sin 2 phi. None where less than half is seen.
struct Ellipse {
  double cosine = 0, sine = 0;

  Ellipse(const std::vector<Vec2d>& flat, const FittedCircle& circle, double distance) {
    constexpr double kLeastEllipseArc = 0.5, kRoom = 0.1;
    if (circle.arc_coverage < kLeastEllipseArc) return;
    double cc = 0, cs = 0, ss = 0, c = 0, s = 0;
    for (const Vec2d& q : flat) {
      const Vec2d off{q.x - circle.center.x, q.y - circle.center.y};
      const double d = length(off), residual = d - circle.radius;
      if (!(d > 0) || std::abs(residual) > distance + kRoom * circle.radius) continue;
      const auto [c2, s2] = double_angle(off);
      cc += c2 * c2;
      cs += c2 * s2;
      ss += s2 * s2;
      c += c2 * residual;
      s += s2 * residual;
    }
    const double det = cc * ss - cs * cs;
    if (!(det > 1e-6 * cc * ss)) return;
    cosine = (c * ss - s * cs) / det;
    sine = (s * cc - c * cs) / det;
  }
  double at(const Vec2d& off) const {
    const auto [c2, s2] = double_angle(off);
    return cosine * c2 + sine * s2;
  }
  static std::array<double, 2> double_angle(const Vec2d& off) {
    const double dd = off.x * off.x + off.y * off.y;
    if (!(dd > 0)) return {1, 0};
    return {(off.x * off.x - off.y * off.y) / dd, 2 * off.x * off.y / dd};
  }
};

/// Points by their distance to a circle, in the sectors where it has points: beside a clump of leaves there is nothing
/// either.
struct Rings {
  std::size_t inside = 0, on = 0, outside = 0;
  std::size_t in_core = 0,
              beside_core = 0;  ///< within 1 cm of the circle, and within 3 cm; more of thick stems
  double inside_area, on_area, outside_area;  ///< of all sectors, in units of pi
  std::size_t in_hollow = 0;
  double core_area, beside_area, hollow_area;

  Rings(const std::vector<Vec2d>& flat, const FittedCircle& circle, double d) {
    const double r = circle.radius, reach = r + 3 * d;
    const double core = std::max(kLeastCore, kCorePart * r), hollow = std::max(0.0, r - 3 * core);
    const std::array<bool, kSectors> counted = sectors_of(flat, circle, d);
    const Ellipse shape(flat, circle, d);
    for (const Vec2d& q : flat) {
      const Vec2d off{q.x - circle.center.x, q.y - circle.center.y};
      if (length(off) < hollow) ++in_hollow;
      if (!counted[sector_of(off)]) continue;
      const double at = length(off), away = std::abs(at - r - shape.at(off));
      if (away < core)
        ++in_core;
      else if (away < 3 * core)
        ++beside_core;
      if (at <= r - d)
        ++inside;
      else if (at < r + d)
        ++on;
      else if (at < reach)
        ++outside;
    }
    const double hole = std::max(0.0, r - d);
    inside_area = hole * hole;
    on_area = (r + d) * (r + d) - inside_area;
    outside_area = reach * reach - (r + d) * (r + d);
    const auto ring = [&](double half) {
      const double inner = std::max(0.0, r - half);
      return (r + half) * (r + half) - inner * inner;
    };
    hollow_area = hollow * hollow;
    core_area = ring(core);
    beside_area = ring(3 * core) - core_area;
  }
  /// True if there is next to nothing inside: no beam reaches the inside of a stem.
  bool is_hollow() const {
    return static_cast<double>(in_hollow) * core_area <=
           kMostInside * static_cast<double>(in_core) * hollow_area;
  }
  /// How many times denser the middle of the ring is than its rims. Of a surface most points lie there; leaves fill it.
  double sharpness() const {
    const double expected = static_cast<double>(beside_core) / beside_area * core_area;
    return expected > 0 ? static_cast<double>(in_core) / expected : HUGE_VAL;
  }
  bool is_sharp() const { return in_core > 0 && sharpness() >= kLeastSharpness; }
  /// True if the circle has far more points than its surroundings would put there.
  bool stand_out() const {
    const double expected = static_cast<double>(inside + outside) / (inside_area + outside_area) * on_area;
    const auto found = static_cast<double>(on);
    return found >= kLeastContrast * expected &&
           found - expected >= kLeastDeviations * std::sqrt(expected + 1);
  }

 private:
  static constexpr std::size_t kSectors = 36;
  static std::size_t sector_of(const Vec2d& off) {
    const double turn = std::atan2(off.y, off.x) / (2 * 3.14159265358979323846);
    return std::min(kSectors - 1, static_cast<std::size_t>((turn - std::floor(turn)) * kSectors));
  }
  /// Sectors with a point on the circle, and their neighbours.
  static std::array<bool, kSectors> sectors_of(const std::vector<Vec2d>& flat, const FittedCircle& circle,
                                               double distance) {
    std::array<bool, kSectors> out{};
    for (const Vec2d& q : flat) {
      const Vec2d off{q.x - circle.center.x, q.y - circle.center.y};
      if (std::abs(length(off) - circle.radius) >= distance) continue;
      const std::size_t sector = sector_of(off);
      for (const std::size_t step : {kSectors - 1, kSectors, kSectors + 1})
        out[(sector + step) % kSectors] = true;
    }
    return out;
  }
};

/// How evenly the points of a circle cover what of it is seen: a stem has them at most heights of each of its directions,
/// a clump of leaves and twigs at one or two.
class Patches {
 public:
  /// A point at `height`, `off` the axis.
  void add(const Vec2d& off, double height, const StemDetectionParams& params) {
    const double part = (height - params.band_min_m) / (params.band_max_m - params.band_min_m);
    const auto slice = std::min(kSlices - 1, static_cast<std::size_t>(std::max(0.0, part) * kSlices));
    const double turn = std::atan2(off.y, off.x) / (2 * 3.14159265358979323846);
    const auto sector =
        std::min(kSectors - 1, static_cast<std::size_t>((turn - std::floor(turn)) * kSectors));
    ++count_[sector];
    seen_[sector][slice] = true;
    slice_[slice] = true;
  }
  bool are_few() const { return share(true) < kLeastPatches && share(false) < kLeastPatchesOfAll; }

 private:
  /// Patches with a point, as a share of those that as many points would have that lie anywhere in their directions, at
  /// the heights with points (true) or at any height.
  double share(bool of_seen_heights) const {
    const double slices =
        of_seen_heights ? static_cast<double>(std::count(slice_.begin(), slice_.end(), true)) : kSlices;
    double found = 0, expected = 0;
    for (std::size_t i = 0; i < kSectors; ++i) {
      found += static_cast<double>(std::count(seen_[i].begin(), seen_[i].end(), true));
      expected += slices * -std::expm1(-static_cast<double>(count_[i]) / slices);
    }
    return expected > 0 ? found / expected : 0;
  }

  static constexpr std::size_t kSectors = 24, kSlices = 10;
  std::array<std::size_t, kSectors> count_{};
  std::array<std::array<bool, kSlices>, kSectors> seen_{};
  std::array<bool, kSlices> slice_{};
};

/// Ground z = a + b (x - place.x) + c (y - place.y) under the points on a stem.
struct GroundPlane {
  Vec2d place;
  double a = 0, b = 0, c = 0;

  double at(const Vec2d& p) const { return a + b * (p.x - place.x) + c * (p.y - place.y); }
};

GroundPlane ground_under(const std::vector<LayerPoint>& inliers, const Vec2d& place) {
  constexpr double kSlopePrior = 1, kHeightNoise = 0.02;
  std::array<double, 9> matrix{};
  std::array<double, 3> right{};
  const double base = inliers[0].at.z - static_cast<double>(inliers[0].height);
  for (const LayerPoint& p : inliers) {
    const double row[3] = {1, p.at.x - place.x, p.at.y - place.y};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) matrix[3 * i + j] += row[i] * row[j];
      right[i] += row[i] * (p.at.z - static_cast<double>(p.height) - base);
    }
  }
  const double prior = kHeightNoise * kHeightNoise / (kSlopePrior * kSlopePrior);
  matrix[4] += prior;
  matrix[8] += prior;
  GroundPlane out{place};
  if (const auto x = solve_positive_definite({{matrix.data(), 9}, 3, 3}, {right.data(), 3}))
    out = {place, (*x)[0], (*x)[1], (*x)[2]};
  out.a += base;
  return out;
}

/// Whether the points near a circle are two columns: opposite each other, or with nothing between them.
bool has_two_columns(const Window& window, const FittedCircle& circle) {
  std::vector<Vec3d> points;
  for (const Vec2d& q : window.flat) points.push_back({q.x, q.y, 0});
  const double reach = circle.radius + 3 * kStemInlierDistance;
  const CircleEvidence evidence = circle_evidence({points.data(), points.size()}, circle.center,
                                                  circle.radius, kStemInlierDistance, reach);
  // More of the circle is seen at both edges of a stem behind another one: their bend tells its radius.
  constexpr double kMostColumns = 0.32;
  return circle.arc_coverage < kMostColumns && is_two_columns(evidence);
}

DetectedStem described(const StemCylinder& cylinder, const FittedCircle& circle, const Window& window,
                       const std::vector<LayerPoint>& inliers) {
  DetectedStem out{};
  out.has_two_columns = has_two_columns(window, circle);
  out.axis = cylinder.axis;
  out.circle = circle;
  out.circle.center = {0, 0};
  const GroundPlane ground = ground_under(inliers, cylinder.place_at(cylinder.at.z));
  out.ground_z = ground.at(cylinder.place_at(cylinder.at.z));
  for (int round = 0; round < kGroundRounds; ++round)
    out.ground_z = ground.at(cylinder.place_at(out.ground_z));
  const double z = out.ground_z + kBreastHeight;
  const Vec2d place = cylinder.place_at(z);
  out.position = {place.x, place.y, z};
  return out;
}

/// True if the lower and the upper half have circles on one axis.
bool halves_agree(const Window& window, const StemCylinder& cylinder, const FittedCircle& circle,
                  const CircleFitParams& params) {
  const AcrossAxis across(cylinder);
  std::vector<double> along;
  for (const LayerPoint& p : window.points) along.push_back(across.along(p.at));
  const auto [low, high] = std::minmax_element(along.begin(), along.end());
  const double middle = (*low + *high) / 2;
  std::array<std::vector<Vec2d>, 2> halves;
  for (std::size_t i = 0; i < along.size(); ++i) halves[along[i] < middle ? 0 : 1].push_back(window.flat[i]);
  std::array<Vec2d, 2> centers;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto fitted = circle_on(halves[i], {circle.center, circle.radius}, params);
    if (!fitted) return false;
    centers[i] = fitted->center;
  }
  const double shift = length({centers[1].x - centers[0].x, centers[1].y - centers[0].y});
  return shift <= std::max(kLeastHalfShift, circle.radius);
}

StemAttempt rejected(const StemCylinder& cylinder, StemRejection reason) {
  return {cylinder, std::nullopt, reason};
}

}  // namespace

StemAttempt attempt_stem(const StemLayer& layer, Span<const LayerPoint> points, const StemSizes& sizes,
                         const StemDetectionParams& params, const OpContext& ctx) {
  const CircleFitParams circles = circle_params(params, sizes);
  auto cylinder = search_cylinder(points, circles);
  if (!cylinder) return {std::nullopt, std::nullopt, StemRejection::kNoCircle};
  double z_min = HUGE_VAL, z_max = -HUGE_VAL;
  for (const LayerPoint& p : points) {
    z_min = std::min(z_min, p.at.z);
    z_max = std::max(z_max, p.at.z);
  }
  const StemCylinder searched = *cylinder;
  ctx.checkpoint();
  {
    const Window first(layer, searched, z_min, z_max);
    ctx.checkpoint();
    const std::vector<LayerPoint> near = even_choice(first.points);
    *cylinder = refine_either_side({near.data(), near.size()}, searched, sizes.distance_of(searched.radius));
  }
  ctx.checkpoint();
  if (!(cylinder->radius >= circles.min_radius_m && cylinder->radius <= circles.max_radius_m))
    return rejected(searched, StemRejection::kNoCircle);
  const Window window(layer, *cylinder, z_min, z_max);
  ctx.checkpoint();
  auto circle = circle_on(window.flat, {{0, 0}, cylinder->radius}, circles);
  if (!circle || circle->arc_coverage < sizes.least_arc) return rejected(searched, StemRejection::kNoCircle);
  if (circle->rms_m > std::max(kLeastResidual, kResidualPart * circle->radius))
    return rejected(*cylinder, StemRejection::kHighResidual);
  const double distance = sizes.distance_of(circle->radius);
  std::vector<LayerPoint> inliers;
  std::array<bool, kStemSublayers> seen{};
  Patches patches;
  for (std::size_t i = 0; i < window.flat.size(); ++i) {
    const Vec2d& q = window.flat[i];
    const double off = length({q.x - circle->center.x, q.y - circle->center.y}) - circle->radius;
    if (std::abs(off) >= distance) continue;
    inliers.push_back(window.points[i]);
    patches.add({q.x - circle->center.x, q.y - circle->center.y},
                static_cast<double>(window.points[i].height), params);
    seen[stem_sublayer(window.points[i].height, params)] = true;
  }
  circle->inlier_count = inliers.size();
  ctx.checkpoint();
  const Rings rings(window.flat, *circle, distance);
  const double share = static_cast<double>(rings.on) / static_cast<double>(rings.on + rings.inside);
  if (inliers.size() < kLeastInliers || share < kLeastShare || !rings.stand_out() || !rings.is_sharp() ||
      !rings.is_hollow() || (patches.are_few() && rings.sharpness() < kPatchySharpness))
    return rejected(*cylinder, StemRejection::kFewInliers);
  if (std::count(seen.begin(), seen.end(), true) < static_cast<std::ptrdiff_t>(kStemSublayersNeeded))
    return rejected(*cylinder, StemRejection::kNotUpright);
  ctx.checkpoint();
  if (!halves_agree(window, *cylinder, *circle, circles))
    return rejected(*cylinder, StemRejection::kHalvesDiffer);
  const StemCylinder stem{AcrossAxis(*cylinder).at(circle->center), cylinder->axis, circle->radius};
  return {stem, described(stem, *circle, window, inliers), StemRejection::kMerged};
}

}  // namespace pc
