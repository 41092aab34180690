#include "ops/trees/circle_center.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/nth_smallest.h"

namespace pc {

namespace {

constexpr double kNearest = 0.06,
                 kNearestPart = 0.3;   // points this near the circle are fitted: metres, of the radius
constexpr double kDeviation = 1.4826;  // of a normal distribution with a median distance of 1
constexpr double kCut = 3;
constexpr double kHuber = 2, kLeastDeviation = 1e-4;  // metres
constexpr std::size_t kSectors = 36;
constexpr int kRounds = 20;

}  // namespace

std::optional<CircleCenter> circle_center(Span<const Vec2d> points, double radius, const Vec2d& start) {
  if (points.size < kFewestCenterPoints) return std::nullopt;
  double nearest = std::max(kNearest, kNearestPart * radius);
  CircleCenter out{start, 0, 0, 0, {}, 0};
  std::vector<double> off;
  std::array<bool, kSectors> seen{};
  for (int round = 0; round < kRounds; ++round) {
    off.clear();
    for (const Vec2d& p : points) {
      const double distance = std::abs(std::hypot(p.x - out.center.x, p.y - out.center.y) - radius);
      if (distance < nearest) off.push_back(distance);
    }
    if (off.size() < kFewestCenterPoints) return std::nullopt;
    out.points = off.size();
    out.deviation = kDeviation * nth_smallest(off.data(), off.size(), off.size() / 2);
    const double deviation = out.deviation + kLeastDeviation;
    // Leaves before a stem are on the side that is seen.
    if (round >= kRounds / 2) nearest = std::min(nearest, kCut * deviation);
    double xx = 0, xy = 0, yy = 0, x = 0, y = 0, xr = 0, yr = 0, rr = 0;
    out.wider = 0;
    seen.fill(false);
    for (const Vec2d& p : points) {
      const double dx = p.x - out.center.x, dy = p.y - out.center.y, d = std::hypot(dx, dy),
                   residual = d - radius;
      if (!(d > 0 && std::abs(residual) < nearest)) continue;
      const double part = std::min(1.0, kHuber * deviation / std::max(std::abs(residual), 1e-12));
      const double weight = part * part, c = dx / d, s = dy / d;
      xx += weight * c * c, xy += weight * c * s, yy += weight * s * s;
      x += weight * c * residual, y += weight * s * residual;
      xr += weight * c, yr += weight * s, rr += weight;
      out.wider += weight * residual;
      const double turn = std::atan2(dy, dx) / (2 * std::numbers::pi);
      seen[std::min(kSectors - 1, static_cast<std::size_t>((turn - std::floor(turn)) * kSectors))] = true;
    }
    const double det = xx * yy - xy * xy;
    if (!(det > 1e-9 * (xx + yy) * (xx + yy))) return std::nullopt;
    out.normal = {xx, xy, xr, xy, yy, yr, xr, yr, rr};
    out.center = {out.center.x + (yy * x - xy * y) / det, out.center.y + (xx * y - xy * x) / det};
  }
  out.sectors = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
  return out;
}

}  // namespace pc
