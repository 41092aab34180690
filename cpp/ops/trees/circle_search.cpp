#include "ops/trees/circle_search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "core/random.h"

namespace pc {

namespace {

constexpr std::size_t kSearchPoints = 4000, kMostTriples = 2000, kBatch = 128;
constexpr double kConfidence = 0.99, kLeastCell = 0.01;
constexpr std::size_t kLeastVotes = 2;

/// Random indexes below `count`, in a fixed order.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  std::size_t below(std::size_t count) {
    return std::min(count - 1,
                    static_cast<std::size_t>(random_unit(seed_, counter_++) * static_cast<double>(count)));
  }

 private:
  std::uint64_t seed_, counter_ = 0;
};

/// At most kSearchPoints of the points.
std::vector<Vec2d> thinned(Span<const Vec2d> points, Draws& draws) {
  std::vector<Vec2d> out(points.begin(), points.end());
  if (out.size() <= kSearchPoints) return out;
  for (std::size_t i = 0; i < kSearchPoints; ++i) std::swap(out[i], out[i + draws.below(out.size() - i)]);
  out.resize(kSearchPoints);
  return out;
}

/// The circle through three points; nothing if they lie on a line or the radius is outside the limits.
std::optional<PlainCircle> through(const Vec2d& a, const Vec2d& b, const Vec2d& c,
                                   const CircleFitParams& params) {
  const double bx = b.x - a.x, by = b.y - a.y, cx = c.x - a.x, cy = c.y - a.y;
  const double twice = 2 * (bx * cy - by * cx);
  if (twice == 0) return std::nullopt;
  const double bb = bx * bx + by * by, cc = cx * cx + cy * cy;
  const double x = (cy * bb - by * cc) / twice, y = (bx * cc - cx * bb) / twice;
  const double radius = std::sqrt(x * x + y * y);
  if (!(radius >= params.min_radius_m) || !(radius <= params.max_radius_m)) return std::nullopt;
  return PlainCircle{{a.x + x, a.y + y}, radius};
}

std::optional<PlainCircle> random_circle(const std::vector<Vec2d>& points, const CircleFitParams& params,
                                         Draws& draws) {
  const std::size_t i = draws.below(points.size()), j = draws.below(points.size()),
                    k = draws.below(points.size());
  if (i == j || j == k || i == k) return std::nullopt;
  return through(points[i], points[j], points[k], params);
}

/// Points on a circle and within it.
struct Evidence {
  std::int64_t near = 0, inside = 0;
  /// That of a hollow circle is below 0.
  std::int64_t score() const { return near - kInliersPerPointWithin * inside; }
};

Evidence evidence_of(const std::vector<Vec2d>& points, const PlainCircle& circle,
                     const CircleFitParams& params) {
  const double distance = params.distance_of(circle.radius);
  const double low = std::max(0.0, circle.radius - distance), high = circle.radius + distance;
  const double within = params.solid ? inside_radius(circle.radius, distance) : 0;
  Evidence out;
  for (const Vec2d& p : points) {
    const double x = p.x - circle.center.x, y = p.y - circle.center.y, squared = x * x + y * y;
    out.near += squared > low * low && squared < high * high ? 1 : 0;
    out.inside += squared < within * within ? 1 : 0;
  }
  return out;
}

bool lies_in_patches(const std::vector<Vec2d>& points, const PlainCircle& circle, double distance) {
  std::vector<Vec2d> near;
  for (const Vec2d& p : points) {
    const double x = p.x - circle.center.x, y = p.y - circle.center.y;
    if (std::abs(std::sqrt(x * x + y * y) - circle.radius) < distance) near.push_back(p);
  }
  return is_patchy(arc_of({near.data(), near.size()}, circle.center), near.size());
}

/// Triples after which, with this share of inliers, one without an outlier was drawn with kConfidence.
double triples_needed(double inlier_share) {
  const double clean = inlier_share * inlier_share * inlier_share;
  if (clean >= 1) return 0;
  return clean > 0 ? std::log(1 - kConfidence) / std::log1p(-clean) : HUGE_VAL;
}

std::optional<PlainCircle> ransac(const std::vector<Vec2d>& points, const CircleFitParams& params,
                                  Draws& draws) {
  std::optional<PlainCircle> best;
  std::int64_t near = 0, most = 0;
  for (std::size_t drawn = 0; drawn < kMostTriples; drawn += kBatch) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      const auto circle = random_circle(points, params, draws);
      if (!circle) continue;
      const Evidence found = evidence_of(points, *circle, params);
      if (found.score() <= most ||
          (params.solid && lies_in_patches(points, *circle, params.distance_of(circle->radius))))
        continue;
      most = found.score();
      near = found.near;
      best = circle;
    }
    const double share = static_cast<double>(near) / static_cast<double>(points.size());
    if (static_cast<double>(drawn + kBatch) >= triples_needed(share)) break;
  }
  return best;
}

std::optional<PlainCircle> hough(const std::vector<Vec2d>& points, const CircleFitParams& params,
                                 Draws& draws) {
  struct Votes {
    std::size_t count = 0;
    double x = 0, y = 0, radius = 0;
  };
  const double cell = std::max(kLeastCell, params.inlier_distance_m / 2);
  const auto index = [&](double value) { return static_cast<std::int64_t>(std::floor(value / cell)); };
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, Votes> cells;
  const Votes* fullest = nullptr;
  for (std::size_t drawn = 0; drawn < kMostTriples; ++drawn) {
    const auto circle = random_circle(points, params, draws);
    if (!circle) continue;
    Votes& votes = cells[{index(circle->center.x), index(circle->center.y), index(circle->radius)}];
    ++votes.count;
    votes.x += circle->center.x;
    votes.y += circle->center.y;
    votes.radius += circle->radius;
    if (fullest == nullptr || votes.count > fullest->count) fullest = &votes;
  }
  if (fullest == nullptr || fullest->count < kLeastVotes) return std::nullopt;
  const auto n = static_cast<double>(fullest->count);
  return PlainCircle{{fullest->x / n, fullest->y / n}, fullest->radius / n};
}

}  // namespace

std::optional<PlainCircle> search_circle(Span<const Vec2d> points, const CircleFitParams& params) {
  Draws draws(params.seed);
  const std::vector<Vec2d> sample = thinned(points, draws);
  return params.search == CircleSearch::kRansac ? ransac(sample, params, draws)
                                                : hough(sample, params, draws);
}

}  // namespace pc
