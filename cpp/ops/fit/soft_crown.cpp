#include "ops/fit/soft_crown.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/fit/bfgs.h"

namespace pc {

namespace {

constexpr std::array<double, 5> kWidths{0.1, 0.05, 0.02, 0.01, 0.005};  // of the step, in gauges
constexpr std::array<double, 4> kApexHeights{1.05, 1.3, 2, 4};  // first guesses, in heights of the points
constexpr double kMostOutside = 0.5;                            // share of the points
constexpr double kGrowth = 0.05;  // of logarithms of extents, until half of the points are inside
constexpr double kBounds =
    12;  // of the logarithms of the unknowns: a solid that shrinks to nothing is no crown
constexpr double kLeastScale =
    1e-3;  // median deviation to half-extent; less where half the points share a coordinate

using Six = std::array<double, 6>;
using Five = std::array<double, 5>;

/// 0 far below 0, 1 far above.
double step_at(double x) {
  constexpr double kFar = 40;
  if (x > kFar) return 1;
  if (x < -kFar) return 0;
  return 1 / (1 + std::exp(-x));
}

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// What a share of points outside costs, in logarithms of the volume, and its derivative by the share.
struct Price {
  double cost, slope;
};
Price price_of(double outside) {
  const double left = 1 - outside / kMostOutside;
  if (!(left > 1e-3)) return {HUGE_VAL, 0};
  return {-kVolumePerShare * kMostOutside * std::log(left), kVolumePerShare / left};
}

/// Points relative to their median, in median deviations.
struct Sample {
  std::vector<Vec3d> points;
  Vec3d origin, scale;
};

Sample scaled_sample(CrownShape shape, const std::vector<Vec3d>& points) {
  Sample out{points, {}, {}};
  std::vector<double> values(points.size());
  for (double Vec3d::*axis : {&Vec3d::x, &Vec3d::y, &Vec3d::z}) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (std::size_t i = 0; i < points.size(); ++i) {
      values[i] = points[i].*axis;
      low = std::min(low, values[i]);
      high = std::max(high, values[i]);
    }
    const double origin = out.origin.*axis = median_of(values);
    for (std::size_t i = 0; i < points.size(); ++i) values[i] = std::abs(points[i].*axis - origin);
    out.scale.*axis = std::max({median_of(values), kLeastScale * (high - low) / 2, 1e-6});
  }
  if (shape == CrownShape::kCone) out.scale.x = out.scale.y = std::max(out.scale.x, out.scale.y);
  for (Vec3d& p : out.points) {
    p = p - out.origin;
    p = {p.x / out.scale.x, p.y / out.scale.y, p.z / out.scale.z};
  }
  return out;
}

/// The least factor * log(value) + kVolumePerShare * (share of greater values) over the upper half of the values.
struct Cut {
  double cost, value;
};
Cut best_cut(std::vector<double> values, double factor) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  Cut best{HUGE_VAL, 1};
  for (std::size_t i = n / 2; i < n; ++i) {
    if (!(values[i] > 0 && values[i] < HUGE_VAL)) continue;
    const double outside = static_cast<double>(n - 1 - i) / static_cast<double>(n);
    const double cost = factor * std::log(values[i]) + kVolumePerShare * outside;
    if (cost < best.cost) best = {cost, values[i]};
  }
  return best;
}

/// The objective; the gradient is that of the share outside before and of the objective afterwards.
template <std::size_t N>
double total_cost(double log_volume, const std::array<double, N>& by_volume, double outside,
                  std::array<double, N>& gradient) {
  const auto [cost, slope] = price_of(outside);
  for (std::size_t i = 0; i < N; ++i) gradient[i] = by_volume[i] + slope * gradient[i];
  return log_volume + cost;
}

bool within_bounds(double log_value) { return std::abs(log_value) < kBounds; }

/// Unknowns: logarithms of the half-extents, then the centre.
double ellipsoid_cost(const std::vector<Vec3d>& points, double width, const Six& x, Six& gradient) {
  if (!within_bounds(x[0]) || !within_bounds(x[1]) || !within_bounds(x[2])) return HUGE_VAL;
  const Vec3d half{std::exp(x[0]), std::exp(x[1]), std::exp(x[2])};
  const double each = 1 / static_cast<double>(points.size());
  double outside = 0;
  gradient = {};
  for (const Vec3d& p : points) {
    const double a = (p.x - x[3]) / half.x, b = (p.y - x[4]) / half.y, c = (p.z - x[5]) / half.z;
    const double gauge = std::sqrt(a * a + b * b + c * c);
    const double out = step_at((gauge - 1) / width);
    outside += out;
    const double slope = each * out * (1 - out) / width / std::max(gauge, 1e-300);
    if (slope == 0) continue;
    gradient[0] -= slope * a * a;
    gradient[1] -= slope * b * b;
    gradient[2] -= slope * c * c;
    gradient[3] -= slope * a / half.x;
    gradient[4] -= slope * b / half.y;
    gradient[5] -= slope * c / half.z;
  }
  return total_cost(x[0] + x[1] + x[2], {1, 1, 1, 0, 0, 0}, each * outside, gradient);
}

/// Unknowns as of ellipsoid_cost.
double prism_cost(const std::vector<Vec3d>& points, double width, const Six& x, Six& gradient) {
  if (!within_bounds(x[0]) || !within_bounds(x[1]) || !within_bounds(x[2])) return HUGE_VAL;
  const std::array<double, 3> half{std::exp(x[0]), std::exp(x[1]), std::exp(x[2])};
  const double each = 1 / static_cast<double>(points.size());
  double outside = 0;
  gradient = {};
  for (const Vec3d& p : points) {
    const std::array<double, 3> at{(p.x - x[3]) / half[0], (p.y - x[4]) / half[1], (p.z - x[5]) / half[2]};
    std::array<std::array<double, 2>, 3> beyond{};
    double inside = 1;
    for (std::size_t j = 0; j < 3; ++j) {
      beyond[j] = {step_at((at[j] - 1) / width), step_at((-at[j] - 1) / width)};
      inside *= (1 - beyond[j][0]) * (1 - beyond[j][1]);
    }
    outside += 1 - inside;
    for (std::size_t j = 0; j < 3; ++j) {
      const double up = each * inside * beyond[j][0] / width, down = each * inside * beyond[j][1] / width;
      gradient[j] -= (up - down) * at[j];
      gradient[3 + j] -= (up - down) / half[j];
    }
  }
  return total_cost(x[0] + x[1] + x[2], {1, 1, 1, 0, 0, 0}, each * outside, gradient);
}

/// Unknowns: log u, dx, dy, log k, height of the base; a point is inside if |u p - d| + k z <= 1 above the base.
double cone_cost(const std::vector<Vec3d>& points, double width, const Five& x, Five& gradient) {
  const double u = std::exp(x[0]), k = std::exp(x[3]), base = x[4], tall = 1 - k * base;
  if (!within_bounds(x[0]) || !within_bounds(x[3]) || !(tall > 1e-6)) return HUGE_VAL;
  const double each = 1 / static_cast<double>(points.size());
  double outside = 0;
  gradient = {};
  for (const Vec3d& p : points) {
    const double a = p.x * u - x[1], b = p.y * u - x[2], r = std::max(std::sqrt(a * a + b * b), 1e-12);
    const double below = (base - p.z) * k;
    const double side = step_at((r + k * p.z - 1) / width), under = step_at(below / width);
    outside += 1 - (1 - side) * (1 - under);
    const double by_side = each * side * (1 - side) * (1 - under) / width;
    const double by_base = each * under * (1 - under) * (1 - side) / width;
    gradient[0] += by_side * (a * p.x + b * p.y) * u / r;
    gradient[1] -= by_side * a / r;
    gradient[2] -= by_side * b / r;
    gradient[3] += by_side * k * p.z + by_base * below;
    gradient[4] += by_base * k;
  }
  const Five by_volume{-2, 0, 0, -1 - 3 * k * base / tall, -3 * k / tall};
  return total_cost(3 * std::log(tall) - 2 * x[0] - x[3], by_volume, each * outside, gradient);
}

void grow(Six& x) {
  for (std::size_t j = 0; j < 3; ++j) x[j] += kGrowth;
}
void grow(Five& x) { x[0] -= kGrowth; }  // the radius

template <std::size_t N, class Cost>
void descend(std::array<double, N>& x, const std::vector<Vec3d>& points, OpContext& ctx, const Cost& cost) {
  // The smooth step leaves more points outside than the start was chosen for.
  std::array<double, N> unused{};
  for (int growth = 0; growth < 100 && cost(points, kWidths[0], x, unused) == HUGE_VAL; ++growth) grow(x);
  for (const double width : kWidths) {
    minimize_bfgs(x, [&](const std::array<double, N>& at, std::array<double, N>& gradient) {
      ctx.checkpoint();
      return cost(points, width, at, gradient);
    });
  }
}

/// Ellipsoids and prisms.
CrownSolid soft_box(CrownShape shape, const std::vector<Vec3d>& points, OpContext& ctx) {
  std::vector<double> gauges;
  for (const Vec3d& p : points) gauges.push_back(crown_gauge({shape, {0, 0, 0}, {1, 1, 1}}, p));
  const double start = std::log(best_cut(std::move(gauges), 3).value);
  Six x{start, start, start, 0, 0, 0};
  descend(x, points, ctx, shape == CrownShape::kPrism ? prism_cost : ellipsoid_cost);
  return {shape, {x[3], x[4], x[5]}, {std::exp(x[0]), std::exp(x[1]), std::exp(x[2])}};
}

CrownSolid soft_cone(const std::vector<Vec3d>& points, OpContext& ctx) {
  std::vector<double> values;
  for (const Vec3d& p : points) values.push_back(p.z);
  std::sort(values.begin(), values.end());
  const std::size_t margin = values.size() / 50;
  const double low = values[margin], high = values[values.size() - 1 - margin];
  double least = HUGE_VAL;
  Five x{};
  for (const double apex_height : kApexHeights) {
    const double apex = low + apex_height * std::max(high - low, 1e-9);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto& [a, b, z] = points[i];
      values[i] = z < apex ? std::sqrt(a * a + b * b) / (apex - z) : HUGE_VAL;
    }
    const Cut slope = best_cut(values, 2);
    const double cost = slope.cost + 3 * std::log(apex - low);
    if (!(cost < least)) continue;
    least = cost;
    // u and k belong to z = 0, which is the median height, always below the apex.
    x = {-std::log(slope.value * apex), 0, 0, -std::log(apex), low};
  }
  descend(x, points, ctx, cone_cost);
  const double u = std::exp(x[0]), k = std::exp(x[3]), base = x[4], height = 1 / k - base;
  const double radius = (1 - k * base) / u;
  return {CrownShape::kCone, {x[1] / u, x[2] / u, base + height / 2}, {radius, radius, height / 2}};
}

}  // namespace

CrownSolid soft_crown(CrownShape shape, const std::vector<Vec3d>& points, OpContext& ctx) {
  const auto [sample, origin, scale] = scaled_sample(shape, points);
  CrownSolid solid = shape == CrownShape::kCone ? soft_cone(sample, ctx) : soft_box(shape, sample, ctx);
  solid.center = {origin.x + solid.center.x * scale.x, origin.y + solid.center.y * scale.y,
                  origin.z + solid.center.z * scale.z};
  solid.half = {solid.half.x * scale.x, solid.half.y * scale.y, solid.half.z * scale.z};
  return solid;
}

}  // namespace pc
