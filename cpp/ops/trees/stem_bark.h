#pragma once
#include <optional>
#include <vector>

#include "core/span.h"
#include "ops/trees/circle_fit.h"

namespace pc {

/// Bark that is seen between what covers it.
struct CoveredBark {
  PlainCircle circle;
  double band_m;       ///< points of the bark lie within it of the circle
  std::size_t points;  ///< of the bark
};

/// Finds the bark of a stem among leaves that cover most of it, as of ivy. A stem is solid: of all surfaces, the bark
/// is the one within which there are no points. A circle through the leaves has the bark within it; one through noise
/// has as many points within as outside.
///
/// points   (n) across the axis of a short piece of the stem, metres
/// starts   circles near the bark; the one that ends with the most points on the bark counts
/// Method   From each start, and from a circle about its centre that has a twentieth of the points within it, least
///          squares of the points in a band about the circle, which then becomes three standard deviations of the
///          points inside (leaves lie outside): at least 4 mm, at most the inlier distance.
/// Returns  nothing unless three quarters of the sectors show bark, by 30 points and a twentieth of all near the
///          stem; there are at most a twentieth of as many points within it; a fifth of as many or more lie up to
///          0.15 m outside; the bark is three times as dense as what lies next to it outside, as no edge of a cloud
///          of noise is; and it is round: the means of its sectors deviate from the circle by 4 mm or a fortieth of
///          the radius at most. Where scans do not fit, arcs of several touch a circle that is smaller than the stem,
///          and leave it beside these places.
/// Cost     O(n) for each start; at most 20,000 points take part, an even choice. Below 100 ms.
/// Source   Own.
std::optional<CoveredBark> covered_bark(Span<const Vec2d> points, const std::vector<PlainCircle>& starts,
                                        const CircleFitParams& params);

/// Whether a point lies outside of the bark.
bool is_cover(const Vec2d& point, const CoveredBark& bark);

}  // namespace pc
