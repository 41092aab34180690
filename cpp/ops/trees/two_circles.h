#pragma once
#include <cstddef>
#include <vector>

#include "core/span.h"
#include "spatial/predicates.h"

namespace pc {

/// Two equal circles, as a stem is seen by scans that do not fit each other.
struct TwoCircles {
  Vec2d middle;     ///< of their centers
  double radius_m;  ///< of each
  Vec2d apart;      ///< from the center of the first to that of the second

  /// A point and the circle that is nearer to it.
  struct Nearer {
    bool second;
    double off_m;  ///< outside of it, negative inside
    Vec2d out;     ///< unit, from its center
  };
  Nearer nearer(const Vec2d& point) const;
};

/// Which of the values of two circles a fit may change.
enum class TwoCirclesFit {
  kOne,    ///< middle and radius of circles in one place: `apart` is 0
  kFixed,  ///< middle and radius
  kFree,   ///< all
};

/// Fits two equal circles to points of a section: each point to the circle that is nearer.
///
/// points   metres; of more than `most` an even choice takes part
/// fit      what may change
/// circles  where to start; replaced by what was found
/// Returns  the cost: the mean over the points of log(1 + (distance / 5 mm)^2) (Cauchy's, which few strays move little); 0 of none.
/// Method   Levenberg-Marquardt with weights of the cost (Holland & Welsch 1977, Communications in Statistics A6: 813).
/// Cost     O(rounds points).
double fit_two_circles(Span<const Vec2d> points, std::size_t most, int rounds, TwoCirclesFit fit,
                       TwoCircles& circles);

}  // namespace pc
