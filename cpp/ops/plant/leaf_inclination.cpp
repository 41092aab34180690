#include "ops/plant/leaf_inclination.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pc {
namespace {

constexpr double kTiny = 1e-300;

/// The continued fraction of I_x(a, b); converges fast for x below (a + 1) / (a + b + 2).
double beta_fraction(double x, double a, double b) {
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double h = d;
  const auto step = [&](double term) {
    d = 1 + term * d;
    d = 1 / (std::abs(d) < kTiny ? kTiny : d);
    c = 1 + term / c;
    if (std::abs(c) < kTiny) c = kTiny;
    h *= d * c;
    return std::abs(d * c - 1);
  };
  for (int m = 1; m < 5000; ++m) {
    step(m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
    if (step(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))) < 1e-15) break;
  }
  return h;
}

double log_beta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

/// I_x(a, b).
double incomplete_beta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(a * std::log(x) + b * std::log1p(-x) - log_beta(a, b));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(1 - x, b, a) / b;
}

}  // namespace

double beta_quantile(double u, double a, double b) {
  if (!(u > 0)) return 0;
  if (u >= 1) return 1;
  double low = 0, high = 1, x = a / (a + b);
  for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
    const double error = incomplete_beta(x, a, b) - u;
    if (error == 0) break;
    (error < 0 ? low : high) = x;
    const double slope = std::exp((a - 1) * std::log(x) + (b - 1) * std::log1p(-x) - log_beta(a, b));
    const double newton = x - error / slope;
    const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
    const bool is_settled = std::abs(next - x) <= 1e-14 * x;
    x = next;
    if (is_settled) break;
  }
  return x;
}

double steered_inclination_deg(const LeafInclination& law, double u) {
  return 90 * beta_quantile(u, law.beta_nu, law.beta_mu);
}

Vec3d rotated(const Vec3d& v, const Vec3d& axis, double angle_rad) {
  const double c = std::cos(angle_rad), s = std::sin(angle_rad);
  return v * c + cross(axis, v) * s + axis * (dot(axis, v) * (1 - c));
}

void steer_blade(std::array<Vec3d, 4>& frame, const Vec3d& normal, double target_deg) {
  const Vec3d up = normal.z < 0 ? normal * -1.0 : normal;
  const double flat = std::hypot(up.x, up.y);
  const double inclination = std::atan2(flat, up.z);
  Vec3d axis{-up.y, up.x, 0};  // z x n
  if (flat > 1e-9 * std::sqrt(dot(up, up))) {
    axis = axis * (1 / flat);
  } else {  // the horizontal part of the width axis; it is not vertical when the normal is
    const double across = std::hypot(frame[1].x, frame[1].y);
    axis = across > 0 ? Vec3d{frame[1].x / across, frame[1].y / across, 0} : Vec3d{1, 0, 0};
  }
  const double turn = target_deg * std::numbers::pi / 180 - inclination;
  for (int k = 0; k < 3; ++k) frame[k] = rotated(frame[k], axis, turn);
}

}  // namespace pc
