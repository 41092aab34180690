#pragma once
#include <cmath>
#include <cstdint>

#include "core/column.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// The place of a coordinate: its number of steps of 1e-5 m, rounded. Coordinates beyond 2^52 steps are places of their own.
inline double place_of(double value) {
  const double steps = value * 1e5;
  return (std::fabs(steps) < 0x1p52 ? std::floor(steps + 0.5) : steps) + 0.0;
}
inline bool same_place(const Vec3d& a, const Vec3d& b) {
  return place_of(a.x) == place_of(b.x) && place_of(a.y) == place_of(b.y) && place_of(a.z) == place_of(b.z);
}

struct MergedPlaces {
  Column<Vec3d> places;              ///< (V) the first used point at each place, in the order of the points
  BulkVector<std::uint32_t> number;  ///< (n) number of the place of each used point; others: undefined
};

/// Points that share a place.
///
/// points   (n) metres, finite, fewer than 2^32 - 1
/// used     (n) 0 = ignored
/// Order    A function of the input alone, for any thread count.
/// Cost     O(n) expected; 20 bytes per point. Cancel within 50 ms.
MergedPlaces merge_places(Span<const Vec3d> points, Span<const std::uint8_t> used, OpContext& ctx);

}  // namespace pc
