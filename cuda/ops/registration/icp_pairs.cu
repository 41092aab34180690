#include <algorithm>
#include <memory>
#include <utility>

#include "core/device_buffer.cuh"
#include "core/launch.cuh"
#include "ops/registration/icp_pairs.cuh"
#include "ops/registration/icp_pairs_kernel.h"

namespace pc::cuda {

namespace {

using icp_pairs_kernel::HostPass;
using icp_pairs_kernel::HostSide;
using icp_pairs_kernel::HostSides;
using icp_pairs_kernel::Known;

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

/// Both sides, and what the last pass found out about each query.
class DeviceSides {
 public:
  DeviceSides(const HostSides& host, const GpuControl& control)
      : fixed_(host.fixed, control),
        moving_(host.moving, control),
        known_(fixed_.size() + moving_.size()),
        slots_(known_.size()),
        squares_(known_.size()) {}

  static std::uint64_t bytes(const HostSides& host) {
    return DeviceSide::bytes(host.fixed) + DeviceSide::bytes(host.moving) +
           (host.fixed.point_count + host.moving.point_count) *
               (sizeof(Known) + sizeof(std::uint32_t) + sizeof(double));
  }

  // Public because nvcc requires it of functions with device code.
  void find(const HostPass& host, const GpuControl& control) {
    if (host.count > slots_.size())
      throw DeviceError(cudaErrorInvalidValue, "more queries than points of both sides");
    icp_pairs_kernel::Queries queries = host.queries;
    queries.fixed = fixed_.view();
    queries.moving = moving_.view();
    Known* const known = known_.data();
    // What a pass that was broken off or had fewer queries left is of several poses.
    const std::uint64_t of_last = std::exchange(known_count_, 0);
    if (of_last < host.count)
      for_each_index(host.count, [known] __device__(std::size_t i) { known[i] = Known{}; });
    const icp_pairs_kernel::Motions earlier = std::exchange(known_at_, queries.motions);
    std::uint32_t* const slot = slots_.data();
    double* const squared = squares_.data();
    for (std::uint64_t begin = 0; begin < host.count; begin += kSearches) {
      poll(control);
      for_each_index(std::min(kSearches, host.count - begin),
                     [queries, earlier, known, begin, slot, squared] __device__(std::size_t n) {
                       const std::uint64_t i = begin + n;
                       const icp_pairs_kernel::Nearest nearest = icp_pairs_kernel::find_pair(
                           queries, i, earlier, known[i], icp_pairs_kernel::kNone);
                       slot[i] = nearest.slot;
                       squared[i] = icp_pairs_kernel::squared_of(nearest);
                     });
    }
    known_count_ = host.count;
    slots_.download(host.slot, host.count, control);
    squares_.download(host.squared, host.count, control);
  }

 private:
  DeviceSide fixed_, moving_;
  DeviceBuffer<Known> known_;
  DeviceBuffer<std::uint32_t> slots_;
  DeviceBuffer<double> squares_;
  std::uint64_t known_count_ = 0;
  icp_pairs_kernel::Motions known_at_{};
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
