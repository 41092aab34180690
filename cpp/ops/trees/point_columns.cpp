#include "ops/trees/point_columns.h"

#include <cstddef>
#include <vector>

namespace pc {

namespace {

/// Sums of the first points.
struct Sums {
  double x = 0, y = 0, squares = 0;

  /// Squares about the mean of n points.
  double within(double n) const { return squares - (x * x + y * y) / n; }
};

/// Points about their mean, in the order of their places along the direction of their greatest spread.
std::vector<Vec2d> sorted_along(Span<const Vec2d> points) {
  const auto n = static_cast<double>(points.size);
  Vec2d mean{0, 0};
  for (const Vec2d& p : points) mean = {mean.x + p.x / n, mean.y + p.y / n};
  double xx = 0, xy = 0, yy = 0;
  std::vector<Vec2d> out;
  for (const Vec2d& p : points) {
    const Vec2d d{p.x - mean.x, p.y - mean.y};
    out.push_back(d);
    xx += d.x * d.x;
    xy += d.x * d.y;
    yy += d.y * d.y;
  }
  const double turn = std::atan2(2 * xy, xx - yy) / 2, c = std::cos(turn), s = std::sin(turn);
  std::sort(out.begin(), out.end(),
            [&](const Vec2d& a, const Vec2d& b) { return a.x * c + a.y * s < b.x * c + b.y * s; });
  return out;
}

}  // namespace

PointColumns point_columns(Span<const Vec2d> points) {
  constexpr std::size_t kFewest = 4;
  if (points.size < kFewest) return {};
  const std::vector<Vec2d> sorted = sorted_along(points);
  const auto n = static_cast<double>(sorted.size());
  Sums all;
  const auto add = [](Sums& sums, const Vec2d& p) {
    sums.x += p.x;
    sums.y += p.y;
    sums.squares += p.x * p.x + p.y * p.y;
  };
  for (const Vec2d& p : sorted) add(all, p);
  if (!(all.squares > 0)) return {0, 0, 0};
  Sums low;
  double least = HUGE_VAL;
  PointColumns out;
  out.all_rms_m = std::sqrt(all.within(n) / n);
  for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
    add(low, sorted[i]);
    const Sums high{all.x - low.x, all.y - low.y, all.squares - low.squares};
    const double a = static_cast<double>(i + 1), b = n - a;
    const double within = std::max(0.0, low.within(a)) + std::max(0.0, high.within(b));
    if (within >= least) continue;
    least = within;
    out.rms_m = std::sqrt(within / n);
    out.gap_m = std::hypot(low.x / a - high.x / b, low.y / a - high.y / b);
  }
  return out;
}

}  // namespace pc
