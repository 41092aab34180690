#include <algorithm>

#include "core/device_buffer.cuh"
#include "core/launch.cuh"
#include "ops/registration/icp_pairs.cuh"
#include "ops/registration/icp_pairs_kernel.h"

namespace pc::cuda {

namespace {

/// A side in device memory. The list of leaves is not needed.
class DeviceSide {
 public:
  DeviceSide(const icp_pairs_kernel::HostSide& host, const Vec3d* points, const GpuControl& control)
      : nodes_(host.tree.tree.nodes, host.tree.node_count, control),
        items_(host.tree.tree.items, host.tree.tree.size, control),
        points_(points, host.point_count, control) {}

  static std::uint64_t bytes(const icp_pairs_kernel::HostSide& host) {
    return host.tree.node_count * sizeof(kd_tree::Node) + host.tree.tree.size * sizeof(kd_tree::Item) +
           host.point_count * sizeof(Vec3d);
  }
  icp_pairs_kernel::Side view() const {
    return {{nodes_.data(), items_.data(), items_.size()}, points_.data()};
  }

 private:
  DeviceBuffer<kd_tree::Node> nodes_;
  DeviceBuffer<kd_tree::Item> items_;
  DeviceBuffer<Vec3d> points_;
};

}  // namespace

GpuStatus icp_pairs(const icp_pairs_kernel::HostPass* host, const GpuControl* control, GpuError* error) {
  return guarded(error, [&] {
    const std::uint64_t chunk = std::min(kSearches, host->count);
    reserve_check(DeviceSide::bytes(host->fixed) + DeviceSide::bytes(host->moving) +
                  chunk * (sizeof(std::uint32_t) + sizeof(double)));
    const DeviceSide fixed(host->fixed, host->queries.fixed.points, *control);
    const DeviceSide moving(host->moving, host->queries.moving.points, *control);
    icp_pairs_kernel::Queries queries = host->queries;
    queries.fixed = fixed.view();
    queries.moving = moving.view();
    DeviceBuffer<std::uint32_t> slots(chunk);
    DeviceBuffer<double> squares(chunk);
    for (std::uint64_t begin = 0; begin < host->count; begin += chunk) {
      const std::uint64_t count = std::min(chunk, host->count - begin);
      slots.upload(host->slot + begin, count, *control);
      std::uint32_t* const slot = slots.data();
      double* const squared = squares.data();
      for_each_index(count, [queries, begin, slot, squared] __device__(std::size_t i) {
        icp_pairs_kernel::write_pair(queries, begin + i, slot[i], squared[i]);
      });
      slots.download(host->slot + begin, count, *control);
      squares.download(host->squared + begin, count, *control);
    }
  });
}

}  // namespace pc::cuda
