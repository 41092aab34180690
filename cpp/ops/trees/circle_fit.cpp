#include "ops/trees/circle_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "ops/trees/circle_search.h"

namespace pc {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr std::size_t kSectors = 36;
constexpr int kGeometricRounds = 2;

double length(double x, double y) { return std::sqrt(x * x + y * y); }

Vec2d mean_of(Span<const Vec2d> points) {
  double x = 0, y = 0;
  for (const Vec2d& p : points) {
    x += p.x;
    y += p.y;
  }
  const auto n = static_cast<double>(points.size);
  return {x / n, y / n};
}

/// Moments of centred points, with z = x^2 + y^2.
struct Moments {
  double xx = 0, yy = 0, xy = 0, xz = 0, yz = 0, zz = 0;
};

Moments moments_of(Span<const Vec2d> points, const Vec2d& mean) {
  Moments m;
  for (const Vec2d& p : points) {
    const double x = p.x - mean.x, y = p.y - mean.y, z = x * x + y * y;
    m.xx += x * x;
    m.yy += y * y;
    m.xy += x * y;
    m.xz += x * z;
    m.yz += y * z;
    m.zz += z * z;
  }
  const auto n = static_cast<double>(points.size);
  for (double* value : {&m.xx, &m.yy, &m.xy, &m.xz, &m.yz, &m.zz}) *value /= n;
  return m;
}

/// The 3 x 3 normal equations of the geometric fit, in the order x, y, radius.
struct NormalEquations {
  std::array<double, 9> matrix{};
  std::array<double, 3> right{};
  double squares = 0;
};

NormalEquations equations_at(Span<const Vec2d> points, const PlainCircle& at) {
  NormalEquations out;
  for (const Vec2d& p : points) {
    const double dx = p.x - at.center.x, dy = p.y - at.center.y, d = length(dx, dy);
    const double row[3] = {d > 0 ? -dx / d : 0, d > 0 ? -dy / d : 0, -1};
    const double residual = d - at.radius;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) out.matrix[static_cast<std::size_t>(3 * i + j)] += row[i] * row[j];
      out.right[static_cast<std::size_t>(i)] -= row[i] * residual;
    }
    out.squares += residual * residual;
  }
  return out;
}

double squares_at(Span<const Vec2d> points, const PlainCircle& at) {
  double sum = 0;
  for (const Vec2d& p : points) {
    const double residual = length(p.x - at.center.x, p.y - at.center.y) - at.radius;
    sum += residual * residual;
  }
  return sum;
}

/// Inverse of a symmetric positive definite 3 x 3 matrix; nothing if it is singular to rounding.
std::optional<std::array<double, 9>> inverse(const std::array<double, 9>& m) {
  const double a = m[0], b = m[1], c = m[2], d = m[4], e = m[5], f = m[8];
  const double det = a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d);
  const double scale = a * d * f;
  if (!(det > 1e-13 * scale)) return std::nullopt;
  return std::array<double, 9>{(d * f - e * e) / det, (c * e - b * f) / det, (b * e - c * d) / det,
                               (c * e - b * f) / det, (a * f - c * c) / det, (b * c - a * e) / det,
                               (b * e - c * d) / det, (b * c - a * e) / det, (a * d - b * b) / det};
}

std::vector<Vec2d> inliers_of(Span<const Vec2d> points, const PlainCircle& circle, double distance) {
  std::vector<Vec2d> near;
  for (const Vec2d& p : points) {
    const double off = std::abs(length(p.x - circle.center.x, p.y - circle.center.y) - circle.radius);
    if (off < distance) near.push_back(p);
  }
  return near;
}

/// Standard error of the radius; see fit_circle.
double radius_sigma(Span<const Vec2d> points, const PlainCircle& at, double ellipticity_square) {
  if (points.size < 4) return std::nan("");
  const auto inverted = inverse(equations_at(points, at).matrix);
  if (!inverted) return std::nan("");
  std::array<double, kSectors> sums{};
  std::array<bool, kSectors> seen{};
  double cosine = 0, sine = 0, plain = 0;
  for (const Vec2d& p : points) {
    const double dx = p.x - at.center.x, dy = p.y - at.center.y, d = length(dx, dy);
    if (!(d > 0)) continue;
    const double c = dx / d, s = dy / d;
    // Change of the radius for a change of this point's distance.
    const double weight = (*inverted)[6] * c + (*inverted)[7] * s + (*inverted)[8];
    const double turn = std::atan2(dy, dx) / (2 * kPi);
    const auto sector =
        std::min(kSectors - 1, static_cast<std::size_t>((turn - std::floor(turn)) * kSectors));
    const double part = weight * (d - at.radius);
    sums[sector] += part;
    plain += part * part;
    seen[sector] = true;
    cosine += weight * (c * c - s * s);
    sine += weight * 2 * s * c;
  }
  const auto clusters = static_cast<double>(std::count(seen.begin(), seen.end(), true));
  double clustered = 0;
  for (const double sum : sums) clustered += sum * sum;
  // Three parameters take three degrees of freedom of the sectors.
  const double scatter = clusters > 3 ? clustered * clusters / (clusters - 3)
                                      : std::max(clustered, plain) * static_cast<double>(points.size) /
                                            (static_cast<double>(points.size) - 3);
  const double shape = at.radius * at.radius / 8 * ellipticity_square * (cosine * cosine + sine * sine);
  return std::sqrt(scatter + shape);
}

}  // namespace

CircleArc arc_of(Span<const Vec2d> points, const Vec2d& center) {
  std::vector<double> angles;
  std::array<bool, kSectors> seen{};
  for (const Vec2d& p : points) {
    const double turn = std::atan2(p.y - center.y, p.x - center.x) / (2 * kPi);
    const double share = turn - std::floor(turn);  // 0..1
    angles.push_back(share);
    seen[std::min(kSectors - 1, static_cast<std::size_t>(share * kSectors))] = true;
  }
  std::sort(angles.begin(), angles.end());
  double gap = angles.empty() ? 1 : 1 - angles.back() + angles.front();
  for (std::size_t i = 1; i < angles.size(); ++i) gap = std::max(gap, angles[i] - angles[i - 1]);
  return {static_cast<double>(std::count(seen.begin(), seen.end(), true)) / kSectors, 360 * gap};
}

bool is_patchy(const CircleArc& arc, std::size_t points) {
  constexpr double kFilled = 0.4;
  const double sectors = std::max(1.0, (1 - arc.max_gap_deg / 360) * kSectors);
  const double expected = sectors * (1 - std::pow(1 - 1 / sectors, static_cast<double>(points)));
  return arc.coverage * kSectors < kFilled * expected;
}

bool is_hollow(Span<const Vec2d> points, const PlainCircle& circle, double inlier_distance_m) {
  const double within = inside_radius(circle.radius, inlier_distance_m);
  std::int64_t inside = 0, inliers = 0;
  for (const Vec2d& p : points) {
    const double distance = length(p.x - circle.center.x, p.y - circle.center.y);
    inside += distance < within ? 1 : 0;
    inliers += std::abs(distance - circle.radius) < inlier_distance_m ? 1 : 0;
  }
  return kInliersPerPointWithin * inside > inliers;
}

std::optional<PlainCircle> taubin_circle(Span<const Vec2d> points) {
  if (points.size < 3) return std::nullopt;
  const Vec2d mean = mean_of(points);
  const Moments m = moments_of(points, mean);
  const double z = m.xx + m.yy, spread = m.xx * m.yy - m.xy * m.xy, variance = m.zz - z * z;
  const double a3 = 4 * z, a2 = -3 * z * z - m.zz;
  const double a1 = variance * z + 4 * spread * z - m.xz * m.xz - m.yz * m.yz;
  const double a0 =
      m.xz * (m.xz * m.yy - m.yz * m.xy) + m.yz * (m.yz * m.xx - m.xz * m.xy) - variance * spread;
  // Newton's method from 0 finds the smallest root, and each step moves towards it.
  double root = 0, value = a0;
  for (int i = 0; i < 100; ++i) {
    const double slope = a1 + root * (2 * a2 + 3 * a3 * root);
    const double next = root - value / slope;
    if (next == root || !std::isfinite(next)) break;
    const double following = a0 + next * (a1 + next * (a2 + next * a3));
    if (std::abs(following) >= std::abs(value)) break;
    root = next;
    value = following;
  }
  const double det = root * root - root * z + spread;
  if (!(std::abs(det) > 1e-14 * z * z)) return std::nullopt;
  const double x = (m.xz * (m.yy - root) - m.yz * m.xy) / det / 2;
  const double y = (m.yz * (m.xx - root) - m.xz * m.xy) / det / 2;
  const double radius = std::sqrt(x * x + y * y + z);
  if (!std::isfinite(radius)) return std::nullopt;
  return PlainCircle{{mean.x + x, mean.y + y}, radius};
}

std::optional<PlainCircle> geometric_circle(Span<const Vec2d> points, const PlainCircle& start) {
  constexpr int kMostSteps = 200;
  constexpr double kSettled = 1e-12;
  const Vec2d mean = mean_of(points);
  std::vector<Vec2d> local(points.size);
  for (std::size_t i = 0; i < points.size; ++i) local[i] = {points[i].x - mean.x, points[i].y - mean.y};
  const Span<const Vec2d> view{local.data(), local.size()};
  PlainCircle at{{start.center.x - mean.x, start.center.y - mean.y}, start.radius};
  double squares = squares_at(view, at), damping = 1e-3;
  for (int step = 0; step < kMostSteps && damping < 1e12; ++step) {
    const NormalEquations equations = equations_at(view, at);
    std::array<double, 9> damped = equations.matrix;
    for (const std::size_t i : {0u, 4u, 8u}) damped[i] += damping * (damped[i] + 1e-12);
    const auto inverted = inverse(damped);
    if (!inverted) {
      damping = std::max(damping, 1e-12) * 10;
      continue;
    }
    double change[3] = {};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) change[i] += (*inverted)[3 * i + j] * equations.right[j];
    const PlainCircle next{{at.center.x + change[0], at.center.y + change[1]}, at.radius + change[2]};
    const double sum = squares_at(view, next);
    const double moved = std::abs(change[0]) + std::abs(change[1]) + std::abs(change[2]);
    if (sum <= squares) {
      at = next;
      squares = sum;
      damping = std::max(damping / 10, 1e-15);
    } else {
      damping *= 10;
    }
    if (moved <= kSettled * std::abs(at.radius)) break;
  }
  if (!std::isfinite(at.radius) || !(at.radius > 0)) return std::nullopt;
  return PlainCircle{{at.center.x + mean.x, at.center.y + mean.y}, at.radius};
}

namespace {

void check(const CircleFitParams& params) {
  require(params.min_points >= 3, "a circle needs three points");
  require(
      params.inlier_distance_m > 0 && params.min_radius_m > 0 && params.max_radius_m > params.min_radius_m,
      "inlier_distance_m and min_radius_m must be above 0, and max_radius_m above min_radius_m");
}

/// What the points near a circle show of it.
FittedCircle seen(Span<const Vec2d> near, const PlainCircle& circle, const CircleFitParams& params) {
  FittedCircle out{};
  out.center = circle.center;
  out.radius = circle.radius;
  out.rms_m = std::sqrt(squares_at(near, circle) / static_cast<double>(near.size));
  out.inlier_count = near.size;
  out.radius_sigma = radius_sigma(near, circle, params.ellipticity_square);
  const CircleArc arc = arc_of(near, out.center);
  out.arc_coverage = arc.coverage;
  out.max_gap_deg = arc.max_gap_deg;
  return out;
}

/// `all`: about their mean.
std::optional<FittedCircle> refined(Span<const Vec2d> all, std::optional<PlainCircle> circle,
                                    const CircleFitParams& params) {
  std::vector<Vec2d> inliers = inliers_of(all, *circle, params.distance_of(circle->radius));
  if (inliers.size() < 3) return std::nullopt;
  if (const auto algebraic = taubin_circle({inliers.data(), inliers.size()})) circle = algebraic;
  for (int round = 0; round < kGeometricRounds; ++round) {
    circle = geometric_circle({inliers.data(), inliers.size()}, *circle);
    if (!circle || circle->radius < params.min_radius_m || circle->radius > params.max_radius_m)
      return std::nullopt;
    inliers = inliers_of(all, *circle, params.distance_of(circle->radius));
    if (inliers.size() < 3) return std::nullopt;
  }
  return seen({inliers.data(), inliers.size()}, *circle, params);
}

std::vector<Vec2d> about(const Vec2d& mean, Span<const Vec2d> points) {
  std::vector<Vec2d> local(points.size);
  for (std::size_t i = 0; i < points.size; ++i) local[i] = {points[i].x - mean.x, points[i].y - mean.y};
  return local;
}

bool is_stem(Span<const Vec2d> points, const FittedCircle& circle, const CircleFitParams& params) {
  return !is_hollow(points, {circle.center, circle.radius}, params.distance_of(circle.radius)) &&
         !is_patchy({circle.arc_coverage, circle.max_gap_deg}, circle.inlier_count);
}

}  // namespace

std::optional<FittedCircle> fit_circle(Span<const Vec2d> points, const CircleFitParams& params) {
  check(params);
  if (points.size < params.min_points) return std::nullopt;
  const Vec2d mean = mean_of(points);
  const std::vector<Vec2d> local = about(mean, points);
  const Span<const Vec2d> all{local.data(), local.size()};
  const auto circle = search_circle(all, params);
  if (!circle) return std::nullopt;
  auto out = refined(all, circle, params);
  if (!out || (params.solid && !is_stem(all, *out, params))) return std::nullopt;
  out->center = {out->center.x + mean.x, out->center.y + mean.y};
  return out;
}

std::optional<FittedCircle> refine_circle(Span<const Vec2d> points, const PlainCircle& start,
                                          const CircleFitParams& params) {
  check(params);
  if (points.size < params.min_points) return std::nullopt;
  const Vec2d mean = mean_of(points);
  const std::vector<Vec2d> local = about(mean, points);
  auto out = refined({local.data(), local.size()},
                     PlainCircle{{start.center.x - mean.x, start.center.y - mean.y}, start.radius}, params);
  if (out) out->center = {out->center.x + mean.x, out->center.y + mean.y};
  return out;
}

std::optional<FittedCircle> circle_as_seen(Span<const Vec2d> points, const PlainCircle& circle,
                                           const CircleFitParams& params) {
  check(params);
  const std::vector<Vec2d> near = inliers_of(points, circle, params.distance_of(circle.radius));
  if (near.size() < 3) return std::nullopt;
  return seen({near.data(), near.size()}, circle, params);
}

}  // namespace pc
