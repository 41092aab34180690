#pragma once
#include <cmath>
#include <cstddef>

#include "core/span.h"
#include "core/vec3.h"
#include "spatial/predicates.h"

namespace pc {

/// What the points around a circle across a stem say for it. The defaults are those of a circle beyond doubt.
struct CircleEvidence {
  double share = 1;          ///< of the points in the window, those on the circle
  double firm_deg = 360;     ///< angle over which the circle is seen, but for sectors with few points
  double inner_gap_deg = 0;  ///< where the firm sectors are two groups: the lesser of the gaps between them
  double one_sided =
      0;  ///< length of the mean direction of the points from the centre: 1 = all in one direction
  double two_sided = 0;       ///< of the mean of their doubled directions: 1 = all along one line
  double chance = -HUGE_VAL;  ///< log10 of how many such circles points spread over the window have by chance
};

/// Whether the points are two columns, or two patches, opposite each other: the circle is the smallest through them.
inline bool is_two_sided(const CircleEvidence& evidence) {
  constexpr double kMostOneSided = 0.3, kLeastTwoSided = 0.55;
  return evidence.one_sided < kMostOneSided && evidence.two_sided > kLeastTwoSided;
}

/// Whether they are two columns, as a scan has them on a thin or far stem: opposite each other, or with nothing between them.
inline bool is_two_columns(const CircleEvidence& evidence) {
  constexpr double kEmpty = 50;  // degrees: where three columns are seen, none is as wide
  return is_two_sided(evidence) || evidence.inner_gap_deg >= kEmpty;
}

/// Looks at points across a stem, along it or of one slice.
///
/// points    (n) across the axis (x, y), metres, within `window` of the centre
/// distance  of points on the circle, metres
/// firm_deg  36 sectors with a quarter of the points of the fullest one, at least 2, are firm. 360 less the widest gap
///           between them. Two columns of a scan, beside each other on a thin stem, lie on circles of any width; with leaves
///           around they have many points on a wide one, over a small angle.
/// groups    Firm sectors with at most 20 degrees between them are one group; looked at where these take 80 degrees at most, as
///           columns do.
/// sides     Points on half a circle have means of 0.64 and 0, on all of it 0 and 0. Two columns opposite each other have 0 and 1:
///           the smallest circle through them, one of many.
/// chance    log10(C(n, 3) P(B >= k - 3)), B binomial of n - 3 and the share of the window that the circle takes, k points on
///           it: three points determine a circle, the others are there by chance. -infinity where all points must be on it.
/// Cost      O(n).
/// Source    Directions: Mardia & Jupp 2000, Directional statistics, 2.3. chance: number of false alarms, Desolneux, Moisan &
///           Morel 2000, Int. J. Comput. Vision 40, 7. The rest: own.
CircleEvidence circle_evidence(Span<const Vec3d> points, const Vec2d& center, double radius, double distance,
                               double window);

/// log10 of the expected number of circles with k or more of n points by chance, each of the others with odds p.
double log_false_alarms(std::size_t n, std::size_t k, double p);

}  // namespace pc
