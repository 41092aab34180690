#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/fit/crown_solid.h"

namespace pc {

struct TrimmedCrown {
  CrownSolid solid;
  BulkVector<std::uint8_t> kept;  ///< (n) 1 = enclosed; empty = all
  std::uint64_t kept_count;
};

/// Most points that strictness lets a crown of n points leave outside: a quarter of strictness as a share. 20 points, and
/// half of the points, always stay.
std::uint64_t droppable_points(std::uint64_t n, double strictness);

/// Smallest upright solid around all points but the strays: points are left outside only as far as each share of them
/// reduces the volume by kVolumePerShare times as large a share, and at most droppable_points() of them.
///
/// points      at least 4, finite, metres relative to a place near them
/// strictness  0..1; 0 = the solid encloses every point
/// Order       Does not depend on the thread count; on the order of the points as little as enclosing_solid.
/// Cost        trimmed_crown_bytes(); O(n) time.
/// Cancel      Within 50 ms.
/// Errors      Those of enclosing_solid. kInvalidArgument: a cone whose kept points have one height.
/// Source      Start: soft_crown of a sample. Then in turn the best scale of the solid and the smallest solid around the
///             points inside, until the points stay the same: concentration steps, Rousseeuw & Van Driessen 1999,
///             Technometrics 41. Neither half of a step raises log(volume) + kVolumePerShare * (share outside).
TrimmedCrown trimmed_crown(CrownShape shape, Span<const Vec3d> points, double strictness, OpContext& ctx);

/// Peak of memory needed besides the points, bytes.
std::uint64_t trimmed_crown_bytes(std::uint64_t points);

}  // namespace pc
