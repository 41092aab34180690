#pragma once
#include <algorithm>
#include <optional>

#include "ops/trees/circle_fit.h"

namespace pc {

/// A circle with more points within it than one for so many inliers is hollow.
constexpr std::int64_t kInliersPerPointWithin = 2;

/// Points nearer than this to the centre lie within the stem; 0: no place is.
inline double inside_radius(double radius, double inlier_distance_m) {
  return std::max(0.0, radius - 2 * inlier_distance_m);
}

/// Finds a circle that many of the points lie on, from circles through three of them. Part of fit_circle.
///
/// points   (n) metres, about their mean
std::optional<PlainCircle> search_circle(Span<const Vec2d> points, const CircleFitParams& params);

}  // namespace pc
