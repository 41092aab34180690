#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// How far ground points lie from the surface of their neighbours: the median vertical distance of a point from the plane through
/// the ten nearest others, seen from above. Noise and roughness at the spacing of the points where they form a surface; far more
/// where they are low parts of plants.
///
/// Of more than 300,000 ground points, those of windows of some 2,000 points that chance chooses are looked at; of them up to about 20,000 have
/// their distance measured.
///
/// positions  (n) metres, z up; rows with a coordinate that is not finite count nowhere
/// labels     (n) 1 = ground
/// Returns    Metres; NaN of fewer than 100 ground points, and of many that are all at one place.
/// Cost       Two passes over the points, and a k-d tree of those that are looked at. Up to 150 MB.
/// Order      The same for any thread count and order of the rows.
/// Cancel     Within 100 ms.
/// Errors     kInvalidArgument for columns of different lengths.
/// Source     Own.
double ground_residual(Span<const Vec3d> positions, Span<const std::uint8_t> labels, OpContext& ctx);

}  // namespace pc
