#include "ops/trees/stem_evidence.h"

#include <array>
#include <cmath>
#include <vector>

#include "core/linear_solve.h"

namespace pc {

namespace {

constexpr double kWindowRadii = 1.5, kWindowRoom = 0.10;  // as the stem curve: contract inventory section 3.3
constexpr double kResidualPart = 0.1, kLeastResidual = 0.01;  // of the radius, metres
constexpr std::size_t kLeastInliers = 15, kLeastCirclePoints = 8;
constexpr double kLeastShare = 0.3;  // of the points in the stem's disc
constexpr double kLeastHalfShift = 0.10;
constexpr double kBreastHeight = 1.3;
constexpr int kGroundRounds = 3;

double length(const Vec2d& p) { return std::sqrt(p.x * p.x + p.y * p.y); }

CircleFitParams circle_params(const StemDetectionParams& params) {
  return {CircleSearch::kRansac,
          kStemInlierDistance,
          kStemLeastRadius,
          std::min(kStemMostRadius, params.max_diameter_m / 2),
          kLeastCirclePoints,
          params.seed,
          0};
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

/// Points by their distance to a circle.
struct Rings {
  std::size_t inside = 0, on = 0, outside = 0;
  double inside_area, on_area, outside_area;

  Rings(const std::vector<Vec2d>& flat, const FittedCircle& circle) {
    const double r = circle.radius, d = kStemInlierDistance, reach = r + 3 * d;
    for (const Vec2d& q : flat) {
      const double at = length({q.x - circle.center.x, q.y - circle.center.y});
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
  }
  double contrast() const {
    const double around = static_cast<double>(inside + outside) / (inside_area + outside_area);
    return around > 0 ? static_cast<double>(on) / on_area / around : HUGE_VAL;
  }
};
constexpr double kLeastContrast = 2.5;

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

DetectedStem described(const StemCylinder& cylinder, const FittedCircle& circle,
                       const std::vector<LayerPoint>& inliers) {
  DetectedStem out{};
  out.axis = cylinder.axis;
  out.circle = circle;
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
    const auto fitted =
        refine_circle({halves[i].data(), halves[i].size()}, {circle.center, circle.radius}, params);
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

StemAttempt attempt_stem(const StemLayer& layer, Span<const LayerPoint> points,
                         const StemDetectionParams& params) {
  const CircleFitParams circles = circle_params(params);
  auto cylinder = search_cylinder(points, circles);
  if (!cylinder) return {std::nullopt, std::nullopt, StemRejection::kNoCircle};
  double z_min = HUGE_VAL, z_max = -HUGE_VAL;
  for (const LayerPoint& p : points) {
    z_min = std::min(z_min, p.at.z);
    z_max = std::max(z_max, p.at.z);
  }
  const StemCylinder searched = *cylinder;
  const Window first(layer, searched, z_min, z_max);
  *cylinder = refine_cylinder({first.points.data(), first.points.size()}, searched, kStemInlierDistance);
  if (!(cylinder->radius >= kStemLeastRadius && cylinder->radius <= circles.max_radius_m))
    return rejected(searched, StemRejection::kNoCircle);
  const Window window(layer, *cylinder, z_min, z_max);
  const auto circle =
      refine_circle({window.flat.data(), window.flat.size()}, {{0, 0}, cylinder->radius}, circles);
  if (!circle) return rejected(searched, StemRejection::kNoCircle);
  if (circle->rms_m > std::max(kLeastResidual, kResidualPart * circle->radius))
    return rejected(*cylinder, StemRejection::kHighResidual);
  std::vector<LayerPoint> inliers;
  std::array<bool, kStemSublayers> seen{};
  for (std::size_t i = 0; i < window.flat.size(); ++i) {
    const Vec2d& q = window.flat[i];
    const double off = length({q.x - circle->center.x, q.y - circle->center.y}) - circle->radius;
    if (std::abs(off) >= kStemInlierDistance) continue;
    inliers.push_back(window.points[i]);
    seen[stem_sublayer(window.points[i].height, params)] = true;
  }
  const Rings rings(window.flat, *circle);
  const double share = static_cast<double>(rings.on) / static_cast<double>(rings.on + rings.inside);
  if (inliers.size() < kLeastInliers || share < kLeastShare || rings.contrast() < kLeastContrast)
    return rejected(*cylinder, StemRejection::kFewInliers);
  if (std::count(seen.begin(), seen.end(), true) < static_cast<std::ptrdiff_t>(kStemSublayersNeeded))
    return rejected(*cylinder, StemRejection::kNotUpright);
  if (!halves_agree(window, *cylinder, *circle, circles))
    return rejected(*cylinder, StemRejection::kHalvesDiffer);
  return {cylinder, described(*cylinder, *circle, inliers), StemRejection::kMerged};
}

}  // namespace pc
