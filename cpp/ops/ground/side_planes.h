#pragma once
#include <array>
#include <cmath>

#include "core/plane_fit.h"
#include "ops/ground/ground_constants.h"

namespace pc {

/// True if `accepts` accepts the plane through the neighbours on one of eight sides of an origin. Planes of one side
/// are for the edge of a terrace, beyond which there is no ground at its height.
///
/// close    `count` entries `at` with u, v in cells from the origin, height z, and squared = u u + v v
/// accepts  called with the fit and its plane
template <class Neighbors, class Accepts>
bool any_side_plane(const Neighbors& close, const GroundConstants& constants, const Accepts& accepts) {
  constexpr double kDiagonal = 0.70710678118654752;
  constexpr std::array<std::array<double, 2>, 8> kSides{{{1, 0},
                                                         {kDiagonal, kDiagonal},
                                                         {0, 1},
                                                         {-kDiagonal, kDiagonal},
                                                         {-1, 0},
                                                         {-kDiagonal, -kDiagonal},
                                                         {0, -1},
                                                         {kDiagonal, -kDiagonal}}};
  for (const auto& [east, north] : kSides) {
    PlaneFit fit;
    for (int i = 0; i < close.count; ++i) {
      const auto& one = close.at[static_cast<std::size_t>(i)];
      if (one.u * east + one.v * north <= constants.side_cone * std::sqrt(one.squared)) continue;
      fit.add(one.u, one.v, one.z, 1 / (1 + constants.side_falloff * one.squared));
    }
    if (fit.count() >= constants.side_fewest && accepts(fit, fit.plane(constants.side_pull))) return true;
  }
  return false;
}

}  // namespace pc
