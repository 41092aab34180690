#include "ops/plant/blade_outline.h"

#include <algorithm>
#include <cmath>

namespace pc {
namespace {

constexpr double kPi = 3.14159265358979323846;
/// Steps between two corners of a polar outline when its extent is measured.
constexpr unsigned kFine = 24;

/// Largest value of x^a (1 - x)^b on 0..1, at x = a / (a + b).
double power_peak(double a, double b) {
  const double x = a / (a + b);
  return std::pow(x, a) * std::pow(1 - x, b);
}

/// Catmull-Rom through p1 (t = 0) and p2 (t = 1).
double through(double p0, double p1, double p2, double p3, double t) {
  return 0.5 * (2 * p1 + t * (p2 - p0 + t * (2 * p0 - 5 * p1 + 4 * p2 - p3 + t * (3 * (p1 - p2) + p3 - p0))));
}

/// Radius at a place between corners i and i + 1; the curve is mirrored at the tip, and ends straight.
double polar_radius(const std::vector<PolarPoint>& corners, std::size_t i, double t) {
  const auto at = [&](std::ptrdiff_t k) {
    return corners[static_cast<std::size_t>(std::min<std::ptrdiff_t>(
                       std::abs(k), static_cast<std::ptrdiff_t>(corners.size()) - 1))]
        .radius;
  };
  const auto k = static_cast<std::ptrdiff_t>(i);
  const double least = std::min(at(k), at(k + 1));
  return std::max(0.5 * least, through(at(k - 1), at(k), at(k + 1), at(k + 2), t));
}

/// The left half before it is scaled to its width.
std::vector<OutlinePoint> raw_half_outline(const BladeShape& blade, unsigned subdivisions) {
  std::vector<OutlinePoint> out;
  const auto add = [&](double angle_deg, double radius) {
    const double r = radius / blade.outline[0].radius, angle = angle_deg * kPi / 180;
    out.push_back({r * std::cos(angle), angle_deg == 0 ? 0 : r * std::sin(angle)});
  };
  for (std::size_t i = 0; i + 1 < blade.outline.size(); ++i) {
    const double from = blade.outline[i].angle_deg, step = blade.outline[i + 1].angle_deg - from;
    for (unsigned s = 0; s < subdivisions; ++s) {
      const double t = static_cast<double>(s) / subdivisions;
      add(from + t * step, polar_radius(blade.outline, i, t));
    }
  }
  add(blade.outline.back().angle_deg, blade.outline.back().radius);
  return out;
}

}  // namespace

double pinnate_half_width(const BladeShape& blade, double x) {
  if (x <= 0 || x >= 1) return 0;
  return 0.5 * blade.width_ratio * std::pow(x, blade.base_exponent) * std::pow(1 - x, blade.tip_exponent) /
         power_peak(blade.base_exponent, blade.tip_exponent);
}

double pinnate_area(const BladeShape& blade) {
  const double a = blade.base_exponent, b = blade.tip_exponent;
  return blade.width_ratio * std::exp(std::lgamma(a + 1) + std::lgamma(b + 1) - std::lgamma(a + b + 2)) /
         power_peak(a, b);
}

std::vector<OutlinePoint> polar_half_outline(const BladeShape& blade, unsigned subdivisions) {
  double widest = 0;  // of the fine curve: the blade's size does not depend on the subdivisions
  for (const OutlinePoint& p : raw_half_outline(blade, kFine)) widest = std::max(widest, p.y);
  std::vector<OutlinePoint> out = raw_half_outline(blade, subdivisions);
  for (OutlinePoint& p : out) p.y *= 0.5 * blade.width_ratio / widest;
  return out;
}

OutlineBox outline_box(const BladeShape& blade) {
  OutlineBox box{0, 1, 0.5 * blade.width_ratio};
  if (blade.form != BladeForm::kPolar) return box;
  for (const OutlinePoint& p : raw_half_outline(blade, kFine)) {
    box.x_min = std::min(box.x_min, p.x);
    box.x_max = std::max(box.x_max, p.x);
  }
  return box;
}

std::vector<OutlinePoint> blade_outline(const BladeShape& blade, unsigned points) {
  std::vector<OutlinePoint> half;  // from the tip to the base, left side
  if (blade.form == BladeForm::kPolar) {
    half =
        polar_half_outline(blade, std::max(1U, points / 2 / static_cast<unsigned>(blade.outline.size() - 1)));
    half.push_back({0, 0});
  } else {
    const unsigned n = std::max(2U, points / 2);
    for (unsigned i = 0; i <= n; ++i) {
      const double x = 0.5 * (1 + std::cos(kPi * i / n));
      half.push_back({i == n ? 0 : x, pinnate_half_width(blade, x)});
    }
  }
  std::vector<OutlinePoint> out = half;
  for (std::size_t i = half.size() - 1; i-- > 1;) out.push_back({half[i].x, -half[i].y});
  return out;
}

}  // namespace pc
