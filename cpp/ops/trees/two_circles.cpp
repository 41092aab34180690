#include "ops/trees/two_circles.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/linear_solve.h"

namespace pc {

namespace {

constexpr double kScale = 0.005;  // metres: distances that count little less than their square
constexpr std::size_t kValues = 5;
constexpr double kFirstDamping = 1e-3, kMostDamping = 1e6, kSmallGain = 1e-7;

using Values = std::array<double, kValues>;  // middle, radius, apart

/// Sums over the points for circles.
struct Sums {
  double cost = 0;
  std::array<double, kValues * kValues> normal{};
  Values slope{};
};

Sums sums_of(Span<const Vec2d> points, std::size_t step, const TwoCircles& circles) {
  Sums out;
  std::size_t count = 0;
  for (std::size_t i = 0; i < points.size; i += step, ++count) {
    const TwoCircles::Nearer near = circles.nearer(points[i]);
    const double ratio = near.off_m / kScale, weight = 1 / (1 + ratio * ratio);
    out.cost += std::log1p(ratio * ratio);
    // How much the point comes nearer to the circle by each value.
    const double half = near.second ? 0.5 : -0.5;
    const Values by{near.out.x, near.out.y, 1, half * near.out.x, half * near.out.y};
    for (std::size_t a = 0; a < kValues; ++a) {
      out.slope[a] += weight * by[a] * near.off_m;
      for (std::size_t b = 0; b <= a; ++b) out.normal[kValues * a + b] += weight * by[a] * by[b];
    }
  }
  if (count > 0) out.cost /= static_cast<double>(count);
  return out;
}

/// The step of the first `n` values; zeros where there is none.
Values step_of(const Sums& sums, std::size_t n, double damping) {
  std::vector<double> matrix(n * n, 0);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b <= a; ++b) matrix[n * a + b] = sums.normal[kValues * a + b];
    matrix[n * a + a] += damping * sums.normal[kValues * a + a] + 1e-9;
  }
  Values out{};
  const auto solved = solve_positive_definite({{matrix.data(), matrix.size()}, n, n}, {sums.slope.data(), n});
  if (solved) std::copy(solved->begin(), solved->end(), out.begin());
  return out;
}

}  // namespace

TwoCircles::Nearer TwoCircles::nearer(const Vec2d& point) const {
  const auto from = [&](double side) -> Nearer {
    const Vec2d d{point.x - middle.x - side * apart.x, point.y - middle.y - side * apart.y};
    const double away = std::hypot(d.x, d.y);
    return {side > 0, away - radius_m, away > 0 ? Vec2d{d.x / away, d.y / away} : Vec2d{1, 0}};
  };
  const Nearer first = from(-0.5), second = from(0.5);
  return std::abs(second.off_m) < std::abs(first.off_m) ? second : first;
}

double fit_two_circles(Span<const Vec2d> points, std::size_t most, int rounds, TwoCirclesFit fit,
                       TwoCircles& circles) {
  if (points.size == 0) return 0;
  const std::size_t step = (points.size + most - 1) / most;
  const std::size_t n = fit == TwoCirclesFit::kFree ? kValues : kValues - 2;
  if (fit == TwoCirclesFit::kOne) circles.apart = {0, 0};
  Sums sums = sums_of(points, step, circles);
  double damping = kFirstDamping;
  for (int round = 0; round < rounds && damping < kMostDamping; ++round) {
    const Values by = step_of(sums, n, damping);
    const TwoCircles moved{{circles.middle.x + by[0], circles.middle.y + by[1]},
                           circles.radius_m + by[2],
                           {circles.apart.x + by[3], circles.apart.y + by[4]}};
    const Sums then = sums_of(points, step, moved);
    if (!(then.cost < sums.cost)) {
      damping *= 10;
      continue;
    }
    const bool is_done = sums.cost - then.cost < kSmallGain * sums.cost;
    circles = moved;
    sums = then;
    damping /= 10;
    if (is_done) break;
  }
  return sums.cost;
}

}  // namespace pc
