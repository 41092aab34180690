#include "ops/fit/smallest_solid.h"

#include <array>

#include "ops/fit/barrier_newton.h"

namespace pc {

namespace {

using Six = std::array<double, 6>;
using Four = std::array<double, 4>;

/// Unknowns: D = 1 / semi-axis, then d = D centre; constraints |D p - d|^2 <= 1.
struct EllipsoidProblem {
  const std::vector<Vec3d>& points;
  std::array<bool, 3> flat;

  static std::array<double, 3> offset(const Six& x, const Vec3d& p) {
    return {x[0] * p.x - x[3], x[1] * p.y - x[4], x[2] * p.z - x[5]};
  }
  static double slack(const Six& x, const Vec3d& p) {
    const auto [a, b, c] = offset(x, p);
    return 1 - a * a - b * b - c * c;
  }
  bool inside(const Six& x) const {
    for (std::size_t j = 0; j < 3; ++j)
      if (!(x[j] > 0) || (flat[j] && !(x[j] < 1))) return false;
    for (const Vec3d& p : points)
      if (!(slack(x, p) > 0)) return false;
    return true;
  }
  Derivatives<6> derivatives(const Six& x, double weight) const {
    Derivatives<6> out;
    for (std::size_t j = 0; j < 3; ++j) {
      out.gradient[j] -= weight / x[j];
      out.hessian[j][j] += weight / (x[j] * x[j]);
      if (!flat[j]) continue;
      Six one{};
      one[j] = -1;
      out.add_barrier(1 - x[j], one);
    }
    for (const Vec3d& p : points) {
      const auto r = offset(x, p);
      const std::array<double, 3> at{p.x, p.y, p.z};
      const double s = slack(x, p);
      Six ds{};
      for (std::size_t j = 0; j < 3; ++j) {
        ds[j] = -2 * r[j] * at[j];
        ds[3 + j] = 2 * r[j];
        out.hessian[j][j] += 2 * at[j] * at[j] / s;
        out.hessian[3 + j][j] -= 2 * at[j] / s;
        out.hessian[3 + j][3 + j] += 2 / s;
      }
      out.add_barrier(s, ds);
    }
    return out;
  }
};

/// Unknowns u, dx, dy, k; constraints (1 - k z)^2 >= |u p - d|^2, whose two factors are positive.
struct ConeProblem {
  const std::vector<Vec3d>& points;
  bool flat;  // the points stand on one vertical line

  static double slack(const Four& x, const Vec3d& p) {
    const double w = 1 - x[3] * p.z, a = x[0] * p.x - x[1], b = x[0] * p.y - x[2];
    const double r = std::sqrt(a * a + b * b);
    return w > 0 ? (w - r) * (w + r) : -1;
  }
  bool inside(const Four& x) const {
    if (!(x[0] > 0) || !(x[3] > 0) || (flat && !(x[0] < 1))) return false;
    for (const Vec3d& p : points)
      if (!(slack(x, p) > 0)) return false;
    return true;
  }
  Derivatives<4> derivatives(const Four& x, double weight) const {
    Derivatives<4> out;
    const auto& [u, dx, dy, k] = x;
    out.gradient = {-2 * weight / u, 0, 0, -weight / k};
    out.hessian[0][0] = 2 * weight / (u * u);
    out.hessian[3][3] = weight / (k * k);
    if (flat) out.add_barrier(1 - u, {-1, 0, 0, 0});
    for (const Vec3d& p : points) {
      const double s = slack(x, p), w = 1 - k * p.z, a = u * p.x - dx, b = u * p.y - dy;
      out.hessian[0][0] += 2 * (p.x * p.x + p.y * p.y) / s;
      out.hessian[1][0] -= 2 * p.x / s;
      out.hessian[2][0] -= 2 * p.y / s;
      out.hessian[1][1] += 2 / s;
      out.hessian[2][2] += 2 / s;
      out.hessian[3][3] -= 2 * p.z * p.z / s;
      out.add_barrier(s, {-2 * (a * p.x + b * p.y), 2 * a, 2 * b, -2 * w * p.z});
    }
    return out;
  }
};

}  // namespace

CrownSolid smallest_ellipsoid(const std::vector<Vec3d>& points, const FlatAxes& flat) {
  const EllipsoidProblem problem{points, {flat.x, flat.y, flat.z}};
  constexpr double kStart = 0.5;  // a ball of radius 2 around the cube
  const Six x = minimize_barrier<6>(
      {kStart, kStart, kStart, 0, 0, 0}, 2.0 * static_cast<double>(points.size()) + 3,
      [&](const Six& at, double weight) { return problem.derivatives(at, weight); },
      [&](const Six& at) { return problem.inside(at); });
  const auto& [a, b, c, da, db, dc] = x;
  return {CrownShape::kEllipsoid, {da / a, db / b, dc / c}, {1 / a, 1 / b, 1 / c}};
}

CrownSolid smallest_cone(const std::vector<Vec3d>& points, const FlatAxes& flat) {
  const ConeProblem problem{points, flat.x && flat.y};
  const Four x = minimize_barrier<4>(
      {0.25, 0, 0, 0.5}, 2.0 * static_cast<double>(points.size()) + 1,
      [&](const Four& at, double weight) { return problem.derivatives(at, weight); },
      [&](const Four& at) { return problem.inside(at); });
  const auto& [u, dx, dy, k] = x;
  return {CrownShape::kCone, {dx / u, dy / u, 0.5 / k}, {1 / u, 1 / u, 0.5 / k}};
}

}  // namespace pc
