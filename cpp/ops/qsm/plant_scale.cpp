#include "ops/qsm/plant_scale.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/parallel.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr double kLeastEnlargement = 1.2, kMostEnlargement = 100;
constexpr double kMostSpacing = 0.010;  // metres, of the enlarged points
constexpr double kTail = 0.005;         // share of the points beyond each end of the span

struct Interval {
  double low, high;
};

/// Of the finite coordinates without kTail at each end; empty without any.
Interval inner_interval(Span<const Vec3d> points, double Vec3d::*axis) {
  std::vector<double> values;
  values.reserve(points.size);
  for (const Vec3d& p : points)
    if (is_finite(p)) values.push_back(p.*axis);
  if (values.empty()) return {0, 0};
  const auto at = [&](double share) {
    const auto place =
        values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), place, values.end());
    return *place;
  };
  return {at(kTail), at(1 - kTail)};
}

/// Median distance from a point to the nearest other one that is not at its place, metres; 0 without one.
double spacing_of(Span<const Vec3d> points, OpContext& ctx) {
  const KdTree tree(points, ctx);
  constexpr std::uint32_t kCopies = 8;  // points at one place
  BulkVector<double> nearest(points.size);
  parallel_for(ctx, points.size, std::size_t{1} << 12, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double squared[kCopies];
      std::uint64_t row[kCopies], slot[kCopies];
      if (!is_finite(points[i])) continue;
      const std::uint32_t count = tree.view().knn(points[i], kCopies, i, squared, row, slot);
      const double* other = std::find_if(squared, squared + count, [](double d) { return d > 0; });
      if (other != squared + count) nearest[i] = *other;
    }
  });
  const auto apart = std::partition(nearest.begin(), nearest.end(), [](double d) { return d > 0; });
  if (apart == nearest.begin()) return 0;
  const auto middle = nearest.begin() + (apart - nearest.begin()) / 2;
  std::nth_element(nearest.begin(), middle, apart);
  return std::sqrt(*middle);
}

}  // namespace

PlantScale plant_scale(Span<const Vec3d> points, double tree_span_m, OpContext& ctx) {
  double span = 0;
  Vec3d low{0, 0, 0};
  for (const auto axis : {&Vec3d::z, &Vec3d::x, &Vec3d::y}) {
    ctx.checkpoint();
    const Interval inner = inner_interval(points, axis);
    low.*axis = inner.low;
    span = std::max(span, inner.high - inner.low);
    if (tree_span_m < kLeastEnlargement * span) return {1, low};
  }
  const double factor = span > 0 ? tree_span_m / span : 1;
  if (factor < kLeastEnlargement) return {1, low};
  const double most = kMostSpacing / spacing_of(points, ctx);
  const double kept = std::min({factor, kMostEnlargement, most});
  return {kept < kLeastEnlargement ? 1 : kept, low, span};
}

BulkVector<Vec3d> enlarged(Span<const Vec3d> points, const PlantScale& scale, OpContext& ctx) {
  BulkVector<Vec3d> out(points.size);
  parallel_for(ctx, points.size, std::size_t{1} << 14, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) out[i] = (points[i] - scale.center) * scale.factor;
  });
  return out;
}

std::vector<QsmCylinder> enlarged(const std::vector<QsmCylinder>& cylinders, const PlantScale& scale) {
  std::vector<QsmCylinder> out = cylinders;
  for (QsmCylinder& c : out) {
    c.start = (c.start - scale.center) * scale.factor;
    c.end = (c.end - scale.center) * scale.factor;
    for (double* length : {&c.radius, &c.mad, &c.radius_se}) *length *= scale.factor;
  }
  return out;
}

void reduce(std::vector<QsmCylinder>& cylinders, const PlantScale& scale) {
  const double share = 1 / scale.factor;
  for (QsmCylinder& c : cylinders) {
    c.start = scale.center + c.start * share;
    c.end = scale.center + c.end * share;
    for (double* length : {&c.radius, &c.mad, &c.radius_se}) *length *= share;
  }
}

double typical_radius(const std::vector<QsmCylinder>& cylinders) {
  double volume = 0, sum = 0;
  for (const QsmCylinder& c : cylinders) {
    const double own = std::numbers::pi * c.radius * c.radius * c.length_m();
    volume += own;
    sum += own * c.radius;
  }
  return volume > 0 ? sum / volume : 0;
}

}  // namespace pc
