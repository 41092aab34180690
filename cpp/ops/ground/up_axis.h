#pragma once
#include <array>

#include "core/hit_points.h"
#include "core/op_context.h"

namespace pc {

/// How even the lower side of a cloud is, if one of the axes pointed upwards: +x, +y, +z, -x, -y, -z. Ground is even and lies
/// under all of a scene: 0.48 to 0.99 along z of scanned land of all kinds, 0.04 to 0.20 along x and y, up to 0.15 of single trees (docs/accuracy.md).
struct UpAxis {
  std::array<double, 6>
      even;  ///< 0..1; all NaN for fewer than 1,000 points and for clouds that are a line or a plane
};

/// points   hits, metres
/// Even     The share of neighbouring cells, of all in the box, that have points and whose lowest ones differ by less than a quarter of the cell, in cells of 32 points of
///          up to 200,000 points between the percentiles 0.5 and 99.5 of each coordinate.
/// Order    The same for any order of the points and thread count: points are chosen by their position.
/// Cost     O(n) time, 40 MB. Cancel within 100 ms.
UpAxis up_axis(HitPoints points, OpContext& ctx);

}  // namespace pc
