#include "ops/trees/layer_stem.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/hit_points.h"
#include "ops/trees/stem_detection.h"

namespace pc {

namespace {

constexpr double kBelow = 0.3, kHeight = 1;  // of the layer, metres: from 1 to 2 m for 1.3 m
constexpr double kLowest = 0.1;              // grass
constexpr double kSlopeReach = 1;
constexpr double kWidest = 1000;  // no crown: points of several places, or strays
constexpr std::size_t kPolled = 1 << 16;

/// The ground around a tree as a plane.
struct Plane {
  Vec2d place;
  double z, x, y;
  double at(const Vec3d& p) const { return z + x * (p.x - place.x) + y * (p.y - place.y); }
};

Plane plane_under(const Vec2d& place, const TreeGround& ground) {
  const auto at = [&](double dx, double dy) { return ground.at({place.x + dx, place.y + dy}).z; };
  const double r = kSlopeReach;
  return {place, at(0, 0), (at(r, 0) - at(-r, 0)) / (2 * r), (at(0, r) - at(0, -r)) / (2 * r)};
}

Vec2d mean_place(Span<const Vec3d> points) {
  double x = 0, y = 0;
  for (const Vec3d& p : points) {
    x += p.x - points[0].x;
    y += p.y - points[0].y;
  }
  const auto n = static_cast<double>(points.size);
  return {points[0].x + x / n, points[0].y + y / n};
}

}  // namespace

std::optional<StemStart> layer_stem(Span<const Vec3d> points, const TreeGround& ground,
                                    const StemParams& params, const OpContext& ctx) {
  const double low = std::max(kLowest, params.breast_height_m - kBelow), high = low + kHeight;
  const Plane plane = plane_under(mean_place(points), ground);
  std::vector<Vec3d> near;
  std::vector<float> heights;
  Box3d box;
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kPolled == 0) ctx.checkpoint();
    const double height = points[i].z - plane.at(points[i]);
    if (!(height >= low && height <= high)) continue;
    near.push_back(points[i]);
    box.add(points[i]);
    heights.push_back(static_cast<float>(height));
  }
  if (!(low < high) || near.empty() || box.max.x - box.min.x > kWidest || box.max.y - box.min.y > kWidest)
    return std::nullopt;
  JobControl own;
  OpContext step(own, ctx);
  const StemDetectionResult found =
      detect_stems(HitPoints::assume_hits({near.data(), near.size()}), {heights.data(), heights.size()},
                   {low, high, 2 * params.max_radius_m, params.seed}, step);
  if (found.stems.empty()) return std::nullopt;
  const DetectedStem& stem = found.stems.front();
  return StemStart{{stem.position.x, stem.position.y}, stem.circle.radius};
}

}  // namespace pc
