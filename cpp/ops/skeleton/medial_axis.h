#pragma once
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// The nodes of a skeleton and the points of each.
struct SkeletonNodes {
  std::vector<Vec3d> place;           ///< centroid of its points
  std::vector<std::uint32_t> parent;  ///< kNoBlock for the root
  std::vector<std::vector<std::uint32_t>> children;
  std::vector<Span<const std::uint32_t>> members;  ///< numbers of its points
};

/// The medial axis near every node: the axis of the cylinder that its points lie on.
///
/// The direction is that from the parent to the child with most points. Across it a circle is fitted to the points of the
/// node (with those of its parent and this child if it has few), at most 600 of them. A node stays where it is if the
/// circle misses the points, shows less than a quarter of itself, or is wider than the points. Where the path through a
/// node then turns by more than 60 degrees, as at forks, the node goes to the middle of the two.
///
/// points   (m) metres, any one frame
/// Order    A function of the arguments, for any number of threads.
/// Cost     O(nodes); about 0.1 ms per node. Cancel within 50 ms.
/// Source   Circle: trees/circle_fit.h, twice, the second time with the direction of the moved nodes. The centre of the
///          circle is that of the largest sphere inside the cylinder, a point of the medial axis (Blum 1967).
std::vector<Vec3d> medial_axis(const BulkVector<Vec3d>& points, const SkeletonNodes& nodes, OpContext& ctx);

/// Moves the leaves of the tree along its axis to the end of their points, and the root to theirs on the axis of the two
/// nodes above it.
void reach_ends(const BulkVector<Vec3d>& points, const SkeletonNodes& nodes, std::vector<Vec3d>& place,
                OpContext& ctx);

}  // namespace pc
