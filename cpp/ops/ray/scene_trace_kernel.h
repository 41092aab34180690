#pragma once
#include <cstddef>
#include <cstdint>

#include "core/host_device.h"
#include "spatial/instance_traversal.h"

/// First hits of rays on the surfaces of a scan: one body for the CPU and CUDA.
namespace pc::scene_trace_kernel {

/// A tree in host memory with the length of its list of triangles.
struct HostTree {
  BvhView tree;
  std::uint64_t triangle_count;
};

/// A scene in host memory, as pc_cuda copies it.
struct HostScene {
  HostTree top;                ///< of the triangles; of the instances if there are prototypes
  const HostTree* prototypes;  ///< (prototype_count)
  std::uint64_t prototype_count;
  const instances::Placed* placed;  ///< (instance_count)
  std::uint64_t instance_count;
};

/// Rays in host memory and room for what they hit: `placed_hits` of a scene with prototypes, else `hits`.
struct HostRays {
  const Ray* rays;  ///< (count)
  std::uint64_t count;
  RayHit* hits;
  InstanceHit* placed_hits;
};

/// Of ray i. The same bits as any other search of the tree.
PC_HD inline void first_hit(std::size_t i, const BvhView& tree, const Ray* rays, RayHit* hits) {
  hits[i] = bvh::trace<bvh::PlainLanes, false>(tree, rays[i]);
}
PC_HD inline void first_hit(std::size_t i, const InstancedBvhView& scene, const Ray* rays,
                            InstanceHit* hits) {
  hits[i] = bvh::trace_instances<bvh::PlainLanes, false>(scene, rays[i]);
}

}  // namespace pc::scene_trace_kernel
