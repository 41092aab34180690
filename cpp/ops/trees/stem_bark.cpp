#include "ops/trees/stem_bark.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace pc {

namespace {

constexpr int kRounds = 8;
constexpr double kLeastBand = 0.004, kDeviations = 3;  // metres
constexpr double kReach = 0.15;                        // metres that leaves stand before the bark
constexpr std::size_t kFewestPoints = 30, kMostPoints = 20'000;
constexpr double kLeastShare = 0.05, kMostWithin = 0.05, kLeastCover = 0.2, kDenser = 3;
constexpr double kInnermost = 0.05;  // of the points near a stem
constexpr double kNextBands = 4;     // what lies next to the bark: up to so many bands
constexpr double kSeenSectors = 0.75;
constexpr double kMostUneven = 0.004, kMostUnevenPart = 0.025;  // metres; of the radius: ovals of 7 %

double off(const Vec2d& p, const PlainCircle& circle) {
  return std::hypot(p.x - circle.center.x, p.y - circle.center.y) - circle.radius;
}

/// Whether a fifth as many points as lie near the circle lie elsewhere: else nothing covers it.
bool may_be_covered(Span<const Vec2d> points, const PlainCircle& circle, double near) {
  double on = 0, elsewhere = 0;
  for (const Vec2d& p : points) {
    const double d = off(p, circle);
    if (d > kReach) continue;
    (std::abs(d) <= near ? on : elsewhere) += 1;
  }
  return elsewhere >= kLeastCover * on;
}

/// The innermost points about a centre.
PlainCircle innermost(Span<const Vec2d> points, const Vec2d& center) {
  std::vector<double> distances;
  for (const Vec2d& p : points) distances.push_back(off(p, {center, 0}));
  const auto at =
      distances.begin() + static_cast<std::ptrdiff_t>(kInnermost * static_cast<double>(distances.size() - 1));
  std::nth_element(distances.begin(), at, distances.end());
  return {center, *at};
}

std::optional<CoveredBark> settled(Span<const Vec2d> points, const PlainCircle& start, double most_band) {
  CoveredBark bark{start, most_band, 0};
  std::vector<Vec2d> near;
  for (int round = 0; round < kRounds; ++round) {
    near.clear();
    double squares = 0, count = 0;
    for (const Vec2d& p : points) {
      const double d = off(p, bark.circle);
      if (std::abs(d) > bark.band_m) continue;
      near.push_back(p);
      if (d >= 0) continue;
      squares += d * d;
      count += 1;
    }
    if (near.size() < kFewestPoints || count == 0) return std::nullopt;
    bark.band_m = std::min(most_band, std::max(kLeastBand, kDeviations * std::sqrt(squares / count)));
    const auto circle = geometric_circle({near.data(), near.size()}, bark.circle);
    if (!circle) return std::nullopt;
    bark.circle = *circle;
  }
  bark.points = near.size();
  return bark;
}

/// Root mean square over 36 sectors of the mean distance of their points from the circle, outwards.
double sector_deviation(const std::vector<Vec2d>& points, const PlainCircle& circle) {
  std::array<double, 36> sums{}, counts{};
  for (const Vec2d& p : points) {
    const double turn =
        std::atan2(p.y - circle.center.y, p.x - circle.center.x) / (2 * std::numbers::pi) + 0.5;
    const auto sector = std::min(sums.size() - 1, static_cast<std::size_t>(36 * turn));
    sums[sector] += off(p, circle);
    counts[sector] += 1;
  }
  double squares = 0, seen = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (counts[i] == 0) continue;
    squares += sums[i] / counts[i] * (sums[i] / counts[i]);
    seen += 1;
  }
  return std::sqrt(squares / seen);
}

bool is_covered_bark(Span<const Vec2d> points, const CoveredBark& bark) {
  const double band = bark.band_m;
  std::vector<Vec2d> on;
  double within = 0, next = 0, outside = 0, all = 0;
  for (const Vec2d& p : points) {
    const double d = off(p, bark.circle);
    if (d > kReach) continue;
    all += 1;
    if (std::abs(d) <= band) on.push_back(p);
    if (d < -2 * band) within += 1;
    if (d > 2 * band) outside += 1;
    if (d > band && d <= kNextBands * band) next += 1;
  }
  const auto count = static_cast<double>(on.size());
  if (on.size() < kFewestPoints || count < kLeastShare * all) return false;
  if (within > kMostWithin * count || outside < kLeastCover * count) return false;
  if (count / 2 < kDenser * next / (kNextBands - 1)) return false;
  return sector_deviation(on, bark.circle) <= std::max(kMostUneven, kMostUnevenPart * bark.circle.radius) &&
         arc_of({on.data(), on.size()}, bark.circle.center).coverage >= kSeenSectors;
}

}  // namespace

std::optional<CoveredBark> covered_bark(Span<const Vec2d> all, const std::vector<PlainCircle>& starts,
                                        const CircleFitParams& params) {
  std::vector<Vec2d> some;
  if (all.size > kMostPoints)
    for (std::size_t i = 0; i < all.size; i += all.size / kMostPoints + 1) some.push_back(all[i]);
  const Span<const Vec2d> points = some.empty() ? all : Span<const Vec2d>{some.data(), some.size()};
  std::optional<CoveredBark> best;
  const auto consider = [&](const PlainCircle& start) {
    const auto bark = settled(points, start, params.inlier_distance_m);
    if (!bark || bark->circle.radius < params.min_radius_m || bark->circle.radius > params.max_radius_m)
      return;
    if (is_covered_bark(points, *bark) && (!best || bark->points > best->points)) best = bark;
  };
  if (points.size < kFewestPoints) return std::nullopt;
  for (const PlainCircle& start : starts) {
    if (!may_be_covered(points, start, params.inlier_distance_m)) continue;
    consider(start);
    consider(innermost(points, start.center));
  }
  return best;
}

bool is_cover(const Vec2d& point, const CoveredBark& bark) { return off(point, bark.circle) > bark.band_m; }

}  // namespace pc
