#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/device_buffer.cuh"
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
  std::uint64_t bytes = DeviceBvh::bytes(host.top) + host.instance_count * sizeof(instances::Placed) +
                        kSearches * (sizeof(Ray) + sizeof(InstanceHit));
  for (std::uint64_t p = 0; p < host.prototype_count; ++p)
    bytes += DeviceBvh::bytes(host.prototypes[p]) + sizeof(BvhView);
  return bytes;
}

/// Traces rays in pieces of a launch; `rays` and `hits` have room for one.
template <class View, class Hit>
void trace_on(const View& view, const HostRays& host, Hit* to, DeviceBuffer<Ray>& rays,
              const DeviceBuffer<Hit>& hits, const GpuControl& control) {
  const Ray* const from = rays.data();
  Hit* const found = hits.data();
  for (std::uint64_t begin = 0; begin < host.count; begin += kSearches) {
    const std::uint64_t count = std::min(kSearches, host.count - begin);
    rays.upload(host.rays + begin, count, control);
    for_each_index(count, [view, from, found] __device__(std::size_t i) {
      scene_trace_kernel::first_hit(i, view, from, found);
    });
    hits.download(to + begin, count, control);
  }
}

/// A scene in device memory, with room for the rays of a launch.
class DeviceScene {
 public:
  DeviceScene(const HostScene& host, const GpuControl& control)
      : top_(host.top, control),
        placed_(host.placed, host.instance_count, control),
        rays_(kSearches),
        hits_(host.prototype_count == 0 ? kSearches : 0),
        placed_hits_(host.prototype_count == 0 ? 0 : kSearches) {
    std::vector<BvhView> views;
    for (std::uint64_t p = 0; p < host.prototype_count; ++p) {
      prototypes_.emplace_back(host.prototypes[p], control);
      views.push_back(prototypes_.back().view());
    }
    views_ = DeviceBuffer<BvhView>(views.data(), views.size(), control);
  }

  void trace(const HostRays& host, const GpuControl& control) {
    if (views_.size() == 0) return trace_on(top_.view(), host, host.hits, rays_, hits_, control);
    const InstancedBvhView view{top_.view(), views_.data(), placed_.data(), placed_.size()};
    trace_on(view, host, host.placed_hits, rays_, placed_hits_, control);
  }

 private:
  DeviceBvh top_;
  std::vector<DeviceBvh> prototypes_;
  DeviceBuffer<BvhView> views_;
  DeviceBuffer<instances::Placed> placed_;
  DeviceBuffer<Ray> rays_;
  DeviceBuffer<RayHit> hits_;
  DeviceBuffer<InstanceHit> placed_hits_;
};

}  // namespace

GpuStatus open_scene(const HostScene* host, const GpuControl* control, void** scene, GpuError* error) {
  return guarded(error, [&] {
    reserve_check(bytes_of(*host));
    *scene = std::make_unique<DeviceScene>(*host, *control).release();
  });
}

GpuStatus scene_hits(void* scene, const HostRays* rays, const GpuControl* control, GpuError* error) {
  return guarded(error, [&] { static_cast<DeviceScene*>(scene)->trace(*rays, *control); });
}

void close_scene(void* scene) { delete static_cast<DeviceScene*>(scene); }

}  // namespace pc::cuda
