#include "ops/trees/circle_evidence.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "ops/trees/binomial_tail.h"

namespace pc {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr std::size_t kSectors = 36;
constexpr std::size_t kFirmPart = 4, kFirmLeast = 2;
constexpr double kMostSeen = 80;  // degrees: columns of a leaning stem are a few sectors wide
constexpr double kOneGroup = 20;  // degrees

/// Widths of the gaps between firm sectors, the widest first, degrees; 360 alone without any.
std::vector<double> gaps_of(const std::array<std::size_t, kSectors>& counts) {
  const std::size_t most = *std::max_element(counts.begin(), counts.end());
  const auto firm = [&](std::size_t i) {
    return counts[i % kSectors] >= kFirmLeast && counts[i % kSectors] * kFirmPart >= most;
  };
  std::vector<double> gaps;
  for (std::size_t i = 0; i < kSectors; ++i) {
    if (!firm(i)) continue;
    std::size_t gap = 0;
    while (gap < kSectors - 1 && !firm(i + 1 + gap)) ++gap;
    if (gap > 0) gaps.push_back(360.0 * static_cast<double>(gap) / kSectors);
  }
  if (most < kFirmLeast) gaps.push_back(360);
  std::sort(gaps.begin(), gaps.end(), std::greater<>());
  return gaps;
}

}  // namespace

double log_false_alarms(std::size_t n, std::size_t k, double p) {
  if (n < 3 || k < 3) return HUGE_VAL;
  const double others = static_cast<double>(n - 3), wanted = static_cast<double>(std::min(k, n) - 3);
  return log_choose(static_cast<double>(n), 3) + log_binomial_tail(others, wanted, p);
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
  const std::vector<double> gaps = gaps_of(counts);
  out.firm_deg = gaps.empty() ? 360 : 360 - gaps[0];
  double seen = 360;
  for (const double gap : gaps) seen -= gap;
  if (seen <= kMostSeen && (gaps.size() == 2 || (gaps.size() > 2 && gaps[2] <= kOneGroup)))
    out.inner_gap_deg = gaps[1];
  if (on > 0) {
    out.one_sided = std::hypot(sums[0], sums[1]) / static_cast<double>(on);
    out.two_sided = std::hypot(sums[2], sums[3]) / static_cast<double>(on);
  }
  out.chance = log_false_alarms(points.size, on, part);
  return out;
}

}  // namespace pc
