#include "ops/ray/scene_device.h"

namespace pc {

namespace {

using scene_trace_kernel::HostRays;
using scene_trace_kernel::HostScene;

/// Of each batch: there are many.
constexpr std::size_t kSample = kGpuSample / 4;

bool same_hit(const RayHit& a, const RayHit& b) {
  return a.triangle == b.triangle && a.t == b.t && a.u == b.u && a.v == b.v;
}
bool same_hit(const InstanceHit& a, const InstanceHit& b) {
  return a.instance == b.instance && a.triangle == b.triangle && a.t == b.t && a.u == b.u && a.v == b.v;
}

}  // namespace

SceneDevice::SceneDevice(const HostScene& scene, OpContext& ctx, std::vector<std::string>& warnings)
    : scene_(scene), ctx_(ctx), gpu_(ctx, "The scan", warnings), opened_(nullptr, [](void*) {}) {
  usable_ = open();
  table_ = gpu_.table();
}

bool SceneDevice::open() {
  return gpu_.run([&](const auto& table, const auto& control, auto& error) {
    void* opened = nullptr;
    const GpuStatus status = table.open_scene(&scene_, &control, &opened, &error);
    if (status == GpuStatus::kOk) opened_ = {opened, table.close_scene};
    return status;
  });
}

bool SceneDevice::first_hits(const HostRays& rays) {
  if (!usable()) return false;
  const auto trace = [&](const auto& table, const auto& control, auto& error) {
    return table.scene_hits(opened_.get(), &rays, &control, &error);
  };
  const std::optional<std::string> why = gpu_call(*table_, ctx_, GpuShare::kBeside, trace);
  if (!why && agrees(rays)) return true;
  lose(why.value_or(kGpuDiffers));
  return false;
}

void SceneDevice::lose(const std::string& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (usable_.exchange(false)) gpu_.lose(why);
}

bool SceneDevice::agrees(const HostRays& rays) const {
  if (scene_.prototype_count == 0) {
    return sample_agrees(
        rays.count,
        [&](std::size_t i) {
          RayHit wanted;
          scene_trace_kernel::first_hit(0, scene_.top.tree, rays.rays + i, &wanted);
          return same_hit(rays.hits[i], wanted);
        },
        kSample);
  }
  std::vector<BvhView> prototypes;
  for (std::uint64_t p = 0; p < scene_.prototype_count; ++p) prototypes.push_back(scene_.prototypes[p].tree);
  const InstancedBvhView view{scene_.top.tree, prototypes.data(), scene_.placed,
                              static_cast<std::size_t>(scene_.instance_count)};
  return sample_agrees(
      rays.count,
      [&](std::size_t i) {
        InstanceHit wanted;
        scene_trace_kernel::first_hit(0, view, rays.rays + i, &wanted);
        return same_hit(rays.placed_hits[i], wanted);
      },
      kSample);
}

}  // namespace pc
