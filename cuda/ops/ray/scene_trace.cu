#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/device_buffer.cuh"
#include "core/lanes.cuh"
#include "core/launch.cuh"
#include "ops/ray/scene_trace.cuh"
#include "ops/ray/scene_trace_kernel.h"

namespace pc::cuda {

namespace {

using scene_trace_kernel::HostRays;
using scene_trace_kernel::HostScene;
using scene_trace_kernel::HostTree;

/// A tree in device memory.
class DeviceBvh {
 public:
  DeviceBvh(const HostTree& host, const GpuControl& control)
      : nodes_(host.tree.nodes, host.tree.node_count, control),
        triangles_(host.tree.triangles, host.triangle_count, control),
        origin_(host.tree.origin) {}

  static std::uint64_t bytes(const HostTree& host) {
    return host.tree.node_count * sizeof(bvh::Node) + host.triangle_count * sizeof(bvh::Triangle);
  }
  BvhView view() const { return {nodes_.data(), triangles_.data(), nodes_.size(), origin_}; }

 private:
  DeviceBuffer<bvh::Node> nodes_;
  DeviceBuffer<bvh::Triangle> triangles_;
  Vec3d origin_;
};

std::uint64_t bytes_of(const HostScene& host) {
  std::uint64_t bytes = DeviceBvh::bytes(host.top) + host.instance_count * sizeof(instances::Placed);
  for (std::uint64_t p = 0; p < host.prototype_count; ++p)
    bytes += DeviceBvh::bytes(host.prototypes[p]) + sizeof(BvhView);
  return bytes;
}

/// Traces rays by the piece that fits a lane: while one thread's piece is on its way, others are traced.
template <class View, class Hit>
void trace_on(const View& view, const HostRays& host, Hit* to, const GpuControl& control) {
  constexpr std::uint64_t kPiece = std::min(Lane::kInBytes / sizeof(Ray), Lane::kOutBytes / sizeof(Hit));
  const Lanes::Use use;
  const Lane& lane = use.lane();
  const auto* const from = reinterpret_cast<const Ray*>(lane.in());
  auto* const found = reinterpret_cast<Hit*>(lane.out());
  for (std::uint64_t begin = 0; begin < host.count; begin += kPiece) {
    poll(control);
    const std::uint64_t count = std::min(kPiece, host.count - begin);
    std::memcpy(lane.host_in(), host.rays + begin, count * sizeof(Ray));
    lane.send(count * sizeof(Ray));
    start_for_each_index(
        count,
        [view, from, found] __device__(std::size_t i) {
          scene_trace_kernel::first_hit(i, view, from, found);
        },
        lane.stream());
    lane.receive(count * sizeof(Hit));
    std::memcpy(to + begin, lane.host_out(), count * sizeof(Hit));
  }
}

/// A scene in device memory, which does not change: threads trace side by side.
class DeviceScene {
 public:
  DeviceScene(const HostScene& host, const GpuControl& control)
      : top_(host.top, control), placed_(host.placed, host.instance_count, control) {
    std::vector<BvhView> views;
    for (std::uint64_t p = 0; p < host.prototype_count; ++p) {
      prototypes_.emplace_back(host.prototypes[p], control);
      views.push_back(prototypes_.back().view());
    }
    views_ = DeviceBuffer<BvhView>(views.data(), views.size(), control);
  }

  void trace(const HostRays& host, const GpuControl& control) const {
    if (views_.size() == 0) return trace_on(top_.view(), host, host.hits, control);
    const InstancedBvhView view{top_.view(), views_.data(), placed_.data(), placed_.size()};
    trace_on(view, host, host.placed_hits, control);
  }

 private:
  DeviceBvh top_;
  std::vector<DeviceBvh> prototypes_;
  DeviceBuffer<BvhView> views_;
  DeviceBuffer<instances::Placed> placed_;
};

}  // namespace

GpuStatus open_scene(const HostScene* host, const GpuControl* control, void** scene, GpuError* error) {
  return guarded(error, [&] {
    reserve_check(bytes_of(*host));
    auto opened = std::make_unique<DeviceScene>(*host, *control);
    finish_launches();  // the streams of the lanes do not wait for copies that are still under way
    *scene = opened.release();
  });
}

GpuStatus scene_hits(void* scene, const HostRays* rays, const GpuControl* control, GpuError* error) {
  return guarded(error, [&] { static_cast<const DeviceScene*>(scene)->trace(*rays, *control); });
}

void close_scene(void* scene) { delete static_cast<DeviceScene*>(scene); }

}  // namespace pc::cuda
