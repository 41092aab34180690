#pragma once
#include <optional>

#include "ops/trees/circle_fit.h"

namespace pc {

/// Finds a circle that many of the points lie on, from circles through three of them. Part of fit_circle.
///
/// points   (n) metres, about their mean
std::optional<PlainCircle> search_circle(Span<const Vec2d> points, const CircleFitParams& params);

}  // namespace pc
