#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// The sphere on which misses lie that were placed at one distance from their scanner.
struct MissSphere {
  std::uint64_t count = 0;  ///< misses looked at
  Vec3d center{};           ///< frame of the positions; the given origin if fewer than 20 misses tell none
  double radius_m = 0;      ///< mean distance of the misses from the center
  double spread_m = 0;      ///< standard deviation of these distances
  double spread_from_origin_m = 0;  ///< of those from the given origin
};

/// Fits a sphere to about 100,000 misses by least squares of |p - o|^2 = 2 c (p - o) + k, which for errors that are small beside
/// the radius are those of the distances.
///
/// positions  (n) metres
/// is_miss    (n) any scalar type, non-zero = miss
/// origin     where the scanner is said to have been
/// Order      The same for any order of the rows but for rounding, and for any number of threads.
/// Cost       Two streaming passes. Cancel within 50 ms.
/// Errors     kInvalidArgument: lengths differ, an origin that is not finite.
MissSphere miss_sphere(Span<const Vec3d> positions, const AnyColumn& is_miss, const Vec3d& origin,
                       OpContext& ctx);

}  // namespace pc
