#pragma once
#include <cstdint>

#include "core/host_device.h"
#include "spatial/bvh_traversal.h"

namespace pc::point_to_mesh_kernel {

/// Input of pc_cuda: a tree and points in host memory. Output: the closest triangle of each point.
struct HostPass {
  BvhView tree;
  std::uint64_t triangle_count;
  const Vec3d* points;  ///< (count) relative to the tree's origin
  std::uint64_t count;
  ClosestTriangle* found;  ///< (count)
};

/// Of point i. The same bits as any other search of the tree.
PC_HD inline void find_closest(std::size_t i, const BvhView& tree, const Vec3d* points,
                               ClosestTriangle* found) {
  found[i] = bvh::closest_triangle<bvh::PlainLanes>(tree, points[i], bvh::kNone);
}

}  // namespace pc::point_to_mesh_kernel
