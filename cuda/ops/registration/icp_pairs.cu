#include <algorithm>
#include <memory>

#include "core/device_buffer.cuh"
#include "core/launch.cuh"
#include "ops/registration/icp_pairs.cuh"
#include "ops/registration/icp_pairs_kernel.h"

namespace pc::cuda {

namespace {

using icp_pairs_kernel::HostPass;
using icp_pairs_kernel::HostSide;
using icp_pairs_kernel::HostSides;

/// A side in device memory. The list of leaves is not needed.
class DeviceSide {
 public:
  DeviceSide(const HostSide& host, const GpuControl& control)
      : nodes_(host.tree.tree.nodes, host.tree.node_count, control),
        items_(host.tree.tree.items, host.tree.tree.size, control),
        points_(host.points, host.point_count, control) {}

  static std::uint64_t bytes(const HostSide& host) {
    return host.tree.node_count * sizeof(kd_tree::Node) + host.tree.tree.size * sizeof(kd_tree::Item) +
           host.point_count * sizeof(Vec3d);
  }
  icp_pairs_kernel::Side view() const {
    return {{nodes_.data(), items_.data(), items_.size()}, points_.data()};
  }
  std::size_t size() const { return points_.size(); }

 private:
  DeviceBuffer<kd_tree::Node> nodes_;
  DeviceBuffer<kd_tree::Item> items_;
  DeviceBuffer<Vec3d> points_;
};

/// Both sides, and the partners that the last pass found: points known to be near.
class DeviceSides {
 public:
  DeviceSides(const HostSides& host, const GpuControl& control)
      : fixed_(host.fixed, control),
        moving_(host.moving, control),
        slots_(fixed_.size() + moving_.size()),
        squares_(slots_.size()) {
    static_assert(icp_pairs_kernel::kNone == 0xffffffffU, "all bytes are alike");
    if (slots_.size() > 0)
      check(cudaMemset(slots_.data(), 0xff, slots_.size() * sizeof(std::uint32_t)), "clear memory");
  }

  static std::uint64_t bytes(const HostSides& host) {
    return DeviceSide::bytes(host.fixed) + DeviceSide::bytes(host.moving) +
           (host.fixed.point_count + host.moving.point_count) * (sizeof(std::uint32_t) + sizeof(double));
  }

  // Public because nvcc requires it of functions with device code.
  void find(const HostPass& host, const GpuControl& control) {
    if (host.count > slots_.size())
      throw DeviceError(cudaErrorInvalidValue, "more queries than points of both sides");
    icp_pairs_kernel::Queries queries = host.queries;
    queries.fixed = fixed_.view();
    queries.moving = moving_.view();
    std::uint32_t* const slot = slots_.data();
    double* const squared = squares_.data();
    for (std::uint64_t begin = 0; begin < host.count; begin += kSearches) {
      poll(control);
      for_each_index(std::min(kSearches, host.count - begin),
                     [queries, begin, slot, squared] __device__(std::size_t i) {
                       icp_pairs_kernel::write_pair(queries, begin + i, slot[begin + i], squared[begin + i]);
                     });
    }
    slots_.download(host.slot, host.count, control);
    squares_.download(host.squared, host.count, control);
  }

 private:
  DeviceSide fixed_, moving_;
  DeviceBuffer<std::uint32_t> slots_;
  DeviceBuffer<double> squares_;
};

}  // namespace

GpuStatus open_sides(const HostSides* host, const GpuControl* control, void** sides, GpuError* error) {
  return guarded(error, [&] {
    reserve_check(DeviceSides::bytes(*host));
    *sides = std::make_unique<DeviceSides>(*host, *control).release();
  });
}

GpuStatus icp_pairs(void* sides, const HostPass* pass, const GpuControl* control, GpuError* error) {
  return guarded(error, [&] { static_cast<DeviceSides*>(sides)->find(*pass, *control); });
}

void close_sides(void* sides) { delete static_cast<DeviceSides*>(sides); }

}  // namespace pc::cuda
