#include "ops/trees/circle_evidence.h"

#include <algorithm>
#include <array>

namespace pc {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr std::size_t kSectors = 36;
constexpr std::size_t kFirmPart = 4, kFirmLeast = 2;
constexpr double kLeastTerm = 1e-12;

double log_choose(double n, double k) {
  return (std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)) / std::log(10.0);
}

/// Degrees from the first to the last firm sector around the widest gap.
double firm_angle(const std::array<std::size_t, kSectors>& counts) {
  const std::size_t most = *std::max_element(counts.begin(), counts.end());
  if (most < kFirmLeast) return 0;
  const auto firm = [&](std::size_t i) {
    return counts[i % kSectors] >= kFirmLeast && counts[i % kSectors] * kFirmPart >= most;
  };
  std::size_t widest = 0;
  for (std::size_t i = 0; i < kSectors; ++i) {
    std::size_t gap = 0;
    while (gap < kSectors && !firm(i + gap)) ++gap;
    widest = std::max(widest, gap);
  }
  return 360.0 * static_cast<double>(kSectors - widest) / kSectors;
}

}  // namespace

double log_false_alarms(std::size_t n, std::size_t k, double p) {
  if (n < 3 || k < 3) return HUGE_VAL;
  if (!(p < 1)) return log_choose(static_cast<double>(n), 3);
  const double others = static_cast<double>(n - 3), wanted = static_cast<double>(std::min(k, n) - 3);
  if (!(p > 0)) return wanted > 0 ? -HUGE_VAL : log_choose(static_cast<double>(n), 3);
  const double choices = log_choose(static_cast<double>(n), 3);
  if (wanted <= others * p) return choices;  // every other circle has as many: the tail is about one half
  // Terms of the tail relative to its first, which is the largest.
  double term = 1, sum = 0;
  for (double j = wanted; j <= others && term > kLeastTerm * sum; ++j) {
    sum += term;
    term *= (others - j) / (j + 1) * p / (1 - p);
  }
  const double first =
      log_choose(others, wanted) + wanted * std::log10(p) + (others - wanted) * std::log10(1 - p);
  return choices + first + std::log10(sum);
}

CircleEvidence circle_evidence(Span<const Vec3d> points, const Vec2d& center, double radius, double distance,
                               double window) {
  std::array<std::size_t, kSectors> counts{};
  std::size_t on = 0;
  std::array<double, 4> sums{};  // of cosine and sine of the bearing, and of its double
  for (const Vec3d& p : points) {
    const double x = p.x - center.x, y = p.y - center.y;
    if (std::abs(std::hypot(x, y) - radius) > distance) continue;
    const double bearing = std::atan2(y, x), turn = bearing / (2 * kPi);
    sums[0] += std::cos(bearing);
    sums[1] += std::sin(bearing);
    sums[2] += std::cos(2 * bearing);
    sums[3] += std::sin(2 * bearing);
    ++counts[std::min(kSectors - 1, static_cast<std::size_t>((turn - std::floor(turn)) * kSectors))];
    ++on;
  }
  const double within = std::max(0.0, radius - distance), beyond = std::min(window, radius + distance);
  const double part = (beyond * beyond - within * within) / (window * window);
  CircleEvidence out;
  out.share = points.size == 0 ? 0 : static_cast<double>(on) / static_cast<double>(points.size);
  out.firm_deg = firm_angle(counts);
  if (on > 0) {
    out.one_sided = std::hypot(sums[0], sums[1]) / static_cast<double>(on);
    out.two_sided = std::hypot(sums[2], sums[3]) / static_cast<double>(on);
  }
  out.chance = log_false_alarms(points.size, on, part);
  return out;
}

}  // namespace pc
