#pragma once
#include <array>
#include <cstddef>
#include <optional>

#include "core/span.h"
#include "spatial/predicates.h"

namespace pc {

struct CircleCenter {
  Vec2d center;
  std::size_t points;   ///< that took part
  std::size_t sectors;  ///< of 36, of 10 degrees, that have one of them
  double deviation;     ///< 1.48 times the median distance from the circle, metres
  /// Half the second derivatives of the sum of the weighted squared distances for x, y and the radius (row by row), and half the first
  /// one for the radius, with the sign changed; those for x and y are 0.
  std::array<double, 9> normal;
  double wider;
};

/// Fewer points give no centre.
constexpr std::size_t kFewestCenterPoints = 15;

/// Centre of a circle of a known radius by points of which some are others: those within 6 cm of it, or 0.3 of the radius
/// if that is more.
///
/// points   (n) metres
/// Returns nothing with fewer than kFewestCenterPoints points near the circle, or if they say nothing of one direction.
/// Cost     O(n).
/// Source   Gauss-Newton of distances with Huber's weights (Huber 1964, Ann. Math. Statist. 35: 73).
std::optional<CircleCenter> circle_center(Span<const Vec2d> points, double radius, const Vec2d& start);

}  // namespace pc
