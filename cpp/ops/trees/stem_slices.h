#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "core/op_context.h"
#include "core/polled_sort.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/predicates.h"

namespace pc {

/// The points of a tree sorted along a direction, to cut slices.
class Slices {
 public:
  /// origin, u, v, w: a right-handed frame; w is the direction.
  Slices(Span<const Vec3d> points, const Vec3d& origin, const Vec3d& u, const Vec3d& v, const Vec3d& w,
         const OpContext& ctx)
      : along_(points.size), flat_(points.size) {
    std::vector<std::size_t> order(points.size);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<double> height(points.size);
    for (std::size_t i = 0; i < points.size; ++i) {
      if (i % kPollPoints == 0) ctx.checkpoint();
      height[i] = dot(points[i] - origin, w);
    }
    polled_stable_sort(
        order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return height[a] < height[b]; }, ctx);
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i % kPollPoints == 0) ctx.checkpoint();
      const Vec3d p = points[order[i]] - origin;
      along_[i] = height[order[i]];
      flat_[i] = {dot(p, u), dot(p, v)};
    }
  }

  double top() const { return along_.back(); }
  /// Height of the first point at or above one; infinite above the top.
  double next(double at) const {
    const auto found = std::lower_bound(along_.begin(), along_.end(), at);
    return found == along_.end() ? HUGE_VAL : *found;
  }
  /// Points whose height differs from `at` by less than half the thickness.
  Span<const Vec2d> slice(double at, double thickness) const {
    const auto low = std::lower_bound(along_.begin(), along_.end(), at - thickness / 2);
    const auto high = std::lower_bound(low, along_.end(), at + thickness / 2);
    return {flat_.data() + (low - along_.begin()), static_cast<std::size_t>(high - low)};
  }
  /// The points of slice() near a place, with their heights.
  std::vector<Vec3d> stretch(double at, double thickness, const Vec2d& center, double reach) const {
    const Span<const Vec2d> flat = slice(at, thickness);
    const double* along = along_.data() + (flat.data - flat_.data());
    std::vector<Vec3d> near;
    for (std::size_t i = 0; i < flat.size; ++i) {
      const double dx = flat[i].x - center.x, dy = flat[i].y - center.y;
      if (dx * dx + dy * dy <= reach * reach) near.push_back({flat[i].x, flat[i].y, along[i]});
    }
    return near;
  }

 private:
  static constexpr std::size_t kPollPoints = 1 << 16;
  std::vector<double> along_;
  std::vector<Vec2d> flat_;
};

}  // namespace pc
