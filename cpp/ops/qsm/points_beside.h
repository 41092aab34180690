#pragma once
#include <cstdint>
#include <vector>

#include "core/qsm.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/qsm/fit_cylinders.h"

namespace pc {

/// Points of a tree that lie on no part of its model.
struct PointsBeside {
  std::uint64_t count = 0;
  double wood_m3 = 0;  ///< that they may be of
};

/// Wood that was seen and has no cylinder: in the upper crown points lie farther apart than those of the stem, and too few of
/// them are together for a skeleton.
///
/// cylinders  of the final model, in the order of `surface`
/// points     (n) those of fit_cylinders
/// unreached  points that are not connected with the base
/// Beside     More than 0.15 m from the surface of the cylinder that a point was given to, unreached, or beyond its reach.
/// Wood       Of the part of the tree that these points lie in (above the lowest twentieth of them): as many times its model's
///            volume as there are such points for each point on the model, at most 3 times. Stands of the forest generator
///            with leaves, four positions: 0.10 of the volume, where 0.03 was missing in the mean and up to 0.23.
/// Order      A function of points and cylinders.
/// Cost       O(n).
PointsBeside points_beside(const std::vector<QsmCylinder>& cylinders, const FittedSurface& surface,
                           Span<const Vec3d> points, const std::vector<Vec3d>& unreached);

}  // namespace pc
