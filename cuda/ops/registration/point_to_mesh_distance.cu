#include <algorithm>

#include "core/device_buffer.cuh"
#include "core/launch.cuh"
#include "ops/registration/point_to_mesh_distance.cuh"
#include "ops/registration/point_to_mesh_kernel.h"

namespace pc::cuda {

GpuStatus closest_triangles(const point_to_mesh_kernel::HostPass* host, const GpuControl* control,
                            GpuError* error) {
  return guarded(error, [&] {
    const std::uint64_t chunk = std::min(kSearches, host->count);
    reserve_check(host->tree.node_count * sizeof(bvh::Node) + host->triangle_count * sizeof(bvh::Triangle) +
                  chunk * (sizeof(Vec3d) + sizeof(ClosestTriangle)));
    const DeviceBuffer<bvh::Node> nodes(host->tree.nodes, host->tree.node_count, *control);
    const DeviceBuffer<bvh::Triangle> triangles(host->tree.triangles, host->triangle_count, *control);
    const BvhView tree{nodes.data(), triangles.data(), host->tree.node_count, host->tree.origin};
    DeviceBuffer<Vec3d> points(chunk);
    DeviceBuffer<ClosestTriangle> found(chunk);
    const Vec3d* const from = points.data();
    ClosestTriangle* const to = found.data();
    for (std::uint64_t begin = 0; begin < host->count; begin += chunk) {
      const std::uint64_t count = std::min(chunk, host->count - begin);
      points.upload(host->points + begin, count, *control);
      for_each_index(count, [tree, from, to] __device__(std::size_t i) {
        point_to_mesh_kernel::find_closest(i, tree, from, to);
      });
      found.download(host->found + begin, count, *control);
    }
  });
}

}  // namespace pc::cuda
