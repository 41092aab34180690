#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/gpu.h"
#include "core/op_context.h"

namespace pc {

/// Results of a device that are compared with the CPU's.
constexpr std::size_t kGpuSample = 256;

/// Whether same(i) holds for kGpuSample indices spread over [0, n), the last one among them; for all if there are fewer.
template <class Same>
bool sample_agrees(std::size_t n, const Same& same) {
  const std::size_t count = std::min(n, kGpuSample);
  for (std::size_t k = 1; k <= count; ++k)
    if (!same(n * k / count - 1)) return false;
  return true;
}

/// The GPU calls of one op. They run on the device if the context asks for it, until the first one fails. From then on
/// the caller computes on the CPU, and one warning gives the reason: no usable device, too little memory (pc_cuda
/// checks before it allocates: reserve_check in device_buffer.cuh), or the device's error.
class GpuRun {
 public:
  /// what      start of the warning: "Denoise", "Cloth simulation"
  /// warnings  of the op's result; must outlive this object
  GpuRun(OpContext& ctx, std::string what, std::vector<std::string>& warnings)
      : ctx_(ctx), what_(std::move(what)), warnings_(warnings) {
    if (ctx.device() != Device::kCuda) return;
    table_ = gpu_table();
    if (table_ == nullptr) warn(gpu_reason());
  }

  /// Always false for a CPU context.
  bool usable() const { return table_ != nullptr; }

  /// Calls `call(table, control, error)`, which returns a GpuStatus, with exclusive use of the device. Returns false if
  /// nothing was done and the CPU must compute. Throws kCanceled like a checkpoint.
  template <class Call>
  bool run(const Call& call) {
    if (!usable()) return false;
    const GpuSlot slot(ctx_);
    const GpuControl control = gpu_control(ctx_);
    GpuError error{};
    const GpuStatus status = call(*table_, control, error);
    ctx_.checkpoint();
    if (status == GpuStatus::kOk) return true;
    warn(error.text);
    table_ = nullptr;
    return false;
  }

  /// Like run(call), but results count only where agrees() finds a sample of them to be what the CPU computes: a device
  /// that rounds otherwise, or that is broken, is not believed.
  template <class Call, class Agrees>
  bool run(const Call& call, const Agrees& agrees) {
    if (!run(call)) return false;
    if (agrees()) return true;
    warn("the GPU gave other results than the CPU for a sample");
    table_ = nullptr;
    return false;
  }

 private:
  void warn(const std::string& reason) { warnings_.push_back(what_ + " ran on the CPU: " + reason); }

  OpContext& ctx_;
  std::string what_;
  std::vector<std::string>& warnings_;
  const GpuTable* table_ = nullptr;
};

}  // namespace pc
