#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/span.h"
#include "spatial/predicates.h"

namespace pc {

/// How the circle of a stem section is searched among points of which many are not stem.
enum class CircleSearch : std::uint8_t {
  kRansac,  ///< the circle through three points with the most points near it
  kHough,   ///< the most frequent circle through three points
};

struct CircleFitParams {
  CircleSearch search;
  double inlier_distance_m;  ///< points closer than this to the circle belong to it
  double min_radius_m, max_radius_m;
  std::size_t min_points;  ///< at least 3; sections with fewer points have no circle
  std::uint64_t seed;
  /// Expected second moment of the ellipticity e of stems, r(phi) = r (1 + e/2 cos 2(phi - phi0)): what a circle may miss
  /// where only an arc is seen.
  double ellipticity_square;
  /// A stem is solid: points within a circle count against it, and one that is_hollow or is_patchy is none. Without it the
  /// caller looks at what lies within.
  bool solid = false;
  /// Of the radius: points closer than this belong to a circle, too, as thick stems are less round in metres.
  double inlier_part = 0;

  /// Points closer than this to a circle of that radius belong to it.
  double distance_of(double radius) const { return std::max(inlier_distance_m, inlier_part * radius); }
};

struct PlainCircle {
  Vec2d center;
  double radius;
};

/// What of a circle its points cover.
struct CircleArc {
  double coverage;     ///< share of 36 sectors of 10 degrees that have a point
  double max_gap_deg;  ///< largest angle without a point
};
CircleArc arc_of(Span<const Vec2d> points, const Vec2d& center);

/// Whether so many points lie in patches of the arc that they span, as those of several stems on one circle do: less than .4 of
/// the sectors have one that points at random on that arc would have.
bool is_patchy(const CircleArc& arc, std::size_t points);

struct FittedCircle {
  Vec2d center;
  double radius;
  double radius_sigma;  ///< standard error; NaN with fewer than 4 inliers
  double rms_m;         ///< of the inliers' distances to the circle
  double arc_coverage;  ///< share of 36 sectors of 10 degrees that have an inlier
  double max_gap_deg;   ///< largest angle without an inlier
  std::size_t inlier_count;
};

/// Fits a circle to a section of a stem, robustly: a search over triples of points, then an algebraic fit and twice a
/// geometric one to the points near it.
///
/// points   (n) metres, any origin; the same circle, to rounding, wherever the origin is
/// Returns nothing with fewer than min_points points, if no circle with a radius in the limits has three inliers, and, with
///          `solid`, if it is hollow or patchy: such a circle joins several stems or passes through shrubs.
/// Order    For one order of the points the result is the same every time; at most 4000 of them take part in the search.
/// Cost     O(n) time with at most 2000 triples of the search; below 10 ms for 4000 points.
/// Error    The standard error of the radius is that of the geometric fit with residuals that are equal within sectors of
///          10 degrees and independent between them (bark is no noise of single points), and of the ellipticity that the
///          arc cannot show.
/// Source   Search: Fischler & Bolles 1981, CACM 24: 381; Xu, Oja & Kultanen 1990, Pattern Recognition Letters 11: 331.
///          Algebraic fit: Taubin 1991, IEEE PAMI 13: 1115, solved as in Chernov 2010, Circular and linear regression,
///          section 5.10. Standard error: Liang & Zeger 1986, Biometrika 73: 13 (clusters).
std::optional<FittedCircle> fit_circle(Span<const Vec2d> points, const CircleFitParams& params);

/// Whether points lie where wood would be: within the circle more than half as many as its inliers, further from it than
/// twice the distance of those.
bool is_hollow(Span<const Vec2d> points, const PlainCircle& circle, double inlier_distance_m);

/// The second part of fit_circle: the circle that the points near `start` lie on. Same points, result and errors.
std::optional<FittedCircle> refine_circle(Span<const Vec2d> points, const PlainCircle& start,
                                          const CircleFitParams& params);

/// What points show of a circle that is known: those near it. Nothing with fewer than three of them.
std::optional<FittedCircle> circle_as_seen(Span<const Vec2d> points, const PlainCircle& circle,
                                           const CircleFitParams& params);

/// Algebraic circle through points about their mean; nothing if they lie on a line.
std::optional<PlainCircle> taubin_circle(Span<const Vec2d> points);

/// Least squares of the distances to the circle, from a start. Nothing if it does not stay finite.
std::optional<PlainCircle> geometric_circle(Span<const Vec2d> points, const PlainCircle& start);

}  // namespace pc
