#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/gpu_run.h"
#include "core/op_context.h"
#include "ops/ray/scene_trace_kernel.h"

namespace pc {

/// The surfaces of a scan on the GPU, if the context asks for it, for as long as this object lives.
class SceneDevice {
 public:
  /// scene     must outlive this object
  /// warnings  gets the reason if the CPU must trace; must outlive this object
  SceneDevice(const scene_trace_kernel::HostScene& scene, OpContext& ctx, std::vector<std::string>& warnings);
  SceneDevice(const SceneDevice&) = delete;
  SceneDevice& operator=(const SceneDevice&) = delete;

  bool usable() const { return usable_.load(std::memory_order_relaxed); }
  /// Writes the first hit of each ray, the same bits as any other search; false: nothing was done, the CPU must trace. Threads
  /// trace side by side.
  bool first_hits(const scene_trace_kernel::HostRays& rays);

 private:
  bool open();
  bool agrees(const scene_trace_kernel::HostRays& rays) const;
  void lose(const std::string& why);

  const scene_trace_kernel::HostScene& scene_;
  OpContext& ctx_;
  GpuRun gpu_;
  const GpuTable* table_ = nullptr;  ///< never changes once the scene is open
  std::mutex mutex_;                 ///< of gpu_ while threads trace
  std::atomic<bool> usable_{false};
  std::unique_ptr<void, void (*)(void*)> opened_;
};

}  // namespace pc
