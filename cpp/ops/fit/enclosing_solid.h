#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/fit/crown_solid.h"

namespace pc {

/// Half-extent given to a solid along an axis in which its points do not differ, metres.
constexpr double kFlatHalfExtent = 1e-6;
/// Points that differ by no more do not differ, metres.
constexpr double kFlatDifference = 2e-9;

/// Points of which only some count.
struct KeptPoints {
  Span<const Vec3d> xyz;
  Span<const std::uint8_t> kept;  ///< (n) non-zero = counts, or empty = all count

  bool operator[](std::size_t i) const { return kept.empty() || kept[i] != 0; }
};

/// Box of the points that count.
Box3d kept_box(const KeptPoints& points, OpContext& ctx);

/// Upright solid of least volume that encloses all points that count.
///
/// points   finite, at least one that counts, metres relative to a place near them
/// Order    Encloses every point to 1e-12 of its size, with a volume within 1e-8 of the smallest, unless the points are
///          thinner than 1e8 roundings of their coordinates. Does not depend on the thread count. Along an axis in
///          which the points do not differ, the half-extent is kFlatHalfExtent, enlarged by less than 1 % where such
///          differences make a point stick out.
/// Cost     A pass over the points and a problem of some tens of them, five to fifteen times.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: a cone around points of one height. kInternal if the search for the points that
///          determine the solid does not end.
/// Source   The smallest solid around a few points (smallest_solid.h), to which the points farthest outside are added
///          until none is outside: cutting planes, Kelley 1960, Journal of SIAM 8.
CrownSolid enclosing_solid(CrownShape shape, const KeptPoints& points, OpContext& ctx);

}  // namespace pc
