#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/skeleton/geodesic_skeleton.h"

namespace pc {

/// What the cylinders of a skeleton say about the points.
struct SegmentCylinders {
  BulkVector<std::uint8_t> near;  ///< (n) 1 = near a cylinder that its segment is
  std::uint64_t segment_count;    ///< with at least 15 points
  std::uint64_t cylinder_count;   ///< of these
};

/// Fits a cylinder to each segment of a skeleton: a chain of nodes between forks. A segment with at least 15 points is
/// wood when the fit covers at least 0.3 of its surface and its mean distance is at most half the radius; its points
/// within max(half the radius, 0.01 m) of the surface are near it.
///
/// points   (n) metres, near the origin, in an order of position; the skeleton is theirs
/// Order    A function of the points in their order, for any thread count.
/// Cost     O(n) time; 13 bytes per point.
/// Source   contract classification section 5, method sota.
SegmentCylinders segment_cylinders(Span<const Vec3d> points, const GeodesicSkeleton& skeleton,
                                   OpContext& ctx);

/// Marks the points near backbone nodes: those that carry at least `support` points, their own and those of all nodes
/// beyond. A point is near if it belongs to such a node, or to a child of one.
BulkVector<std::uint8_t> near_backbone(const GeodesicSkeleton& skeleton, std::size_t points, double support,
                                       OpContext& ctx);

}  // namespace pc
