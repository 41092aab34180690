#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Sets of points that can be walked through by steps shorter than `gap_m`.
///
/// points   (n) local positions (cut_pursuit_nodes.h) in Morton order
/// Returns  (n) set of each point, numbered by its lowest point.
/// Cost     O(n log n): points of one voxel of gap / sqrt(3) are in one set; neighbouring voxels are compared by their
///          closest points.
BulkVector<std::uint32_t> gap_components(Span<const Vec3d> points, double gap_m, OpContext& ctx);

}  // namespace pc
