#include "ops/fit/crown_solid.h"

#include <array>
#include <numbers>

namespace pc {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kConverged = 1e-4;  // relative spread after which the series below are exact to 1e-16

/// Carlson's symmetric elliptic integrals R_F and R_D of x, y, z > 0 (1995, section 2, equations 4 to 19).
struct Carlson {
  double rf, rd;
};

Carlson carlson(double x, double y, double z) {
  double sum = 0, power = 1;
  for (;;) {
    const double mean = (x + y + z) / 3;
    if (std::max({std::abs(x - mean), std::abs(y - mean), std::abs(z - mean)}) < kConverged * mean) break;
    const double sx = std::sqrt(x), sy = std::sqrt(y), sz = std::sqrt(z);
    const double lambda = sx * (sy + sz) + sy * sz;
    sum += power / (sz * (z + lambda));
    power /= 4;
    x = (x + lambda) / 4;
    y = (y + lambda) / 4;
    z = (z + lambda) / 4;
  }
  const double mean = (x + y + z) / 3;
  const double fx = 1 - x / mean, fy = 1 - y / mean, fz = -fx - fy;
  const double f2 = fx * fy - fz * fz, f3 = fx * fy * fz;
  const double rf = (1 + f2 * (f2 / 24 - 0.1 - 3 * f3 / 44) + f3 / 14) / std::sqrt(mean);
  const double mu = (x + y + 3 * z) / 5;
  const double dx = 1 - x / mu, dy = 1 - y / mu, dz = -(dx + dy) / 3;
  const double ea = dx * dy, eb = dz * dz, ec = ea - eb, ed = ea - 6 * eb, ee = ed + ec + ec;
  const double series = 1 + ed * (-3.0 / 14 + 9.0 / 88 * ed - 4.5 / 26 * dz * ee) +
                        dz * (ee / 6 + dz * (-9.0 / 22 * ec + dz * 3.0 / 26 * ea));
  return {rf, 3 * sum + power * series / (mu * std::sqrt(mu))};
}

double ellipsoid_area(const Vec3d& half) {
  // Relative to the largest product, so that thin and large ellipsoids neither underflow nor overflow.
  std::array<double, 3> axes{half.x, half.y, half.z};
  std::sort(axes.begin(), axes.end());
  const double large = axes[1] * axes[2], middle = axes[0] / axes[1], small = axes[0] / axes[2];
  const double x = 1, y = small * small, z = middle * middle;  // z is the median: no term below is negative
  const auto [rf, rd] = carlson(x, y, z);
  const double rg = (z * rf - (x - z) * (y - z) * rd / 3 + std::sqrt(x * y / z)) / 2;  // DLMF 19.21.10
  return 4 * kPi * large * rg;
}

}  // namespace

double crown_volume(const CrownSolid& solid) {
  const double box = 8 * solid.half.x * solid.half.y * solid.half.z;
  switch (solid.shape) {
    case CrownShape::kEllipsoid:
      return box * kPi / 6;
    case CrownShape::kPrism:
      return box;
    case CrownShape::kCone:
      break;
  }
  return box * kPi / 12;
}

double crown_surface_area(const CrownSolid& solid) {
  const auto [a, b, c] = solid.half;
  switch (solid.shape) {
    case CrownShape::kEllipsoid:
      return ellipsoid_area(solid.half);
    case CrownShape::kPrism:
      return 8 * (a * b + b * c + c * a);
    case CrownShape::kCone:
      break;
  }
  return kPi * a * (a + std::sqrt(a * a + 4 * c * c));
}

}  // namespace pc
