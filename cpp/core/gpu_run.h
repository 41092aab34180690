#pragma once
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/gpu.h"
#include "core/op_context.h"

namespace pc {

/// Results of a call that are compared with the CPU's.
constexpr std::size_t kGpuSample = 256;

/// Whether same(i) holds for `sample` indices spread over [0, n), the last one among them; for all if there are fewer.
template <class Same>
bool sample_agrees(std::size_t n, const Same& same, std::size_t sample = kGpuSample) {
  const std::size_t count = std::min(n, sample);
  for (std::size_t k = 1; k <= count; ++k)
    if (!same(n * k / count - 1)) return false;
  return true;
}

/// Makes a GPU call, `call(table, control, error)`, which returns a GpuStatus. Nothing if it succeeded, otherwise why not.
/// Throws kCanceled like a checkpoint. Any thread.
template <class Call>
std::optional<std::string> gpu_call(const GpuTable& table, OpContext& ctx, GpuShare share, const Call& call) {
  const GpuSlot slot(ctx, share);
  const GpuControl control = gpu_control(ctx);
  GpuError error{};
  const GpuStatus status = call(table, control, error);
  ctx.checkpoint();
  if (status == GpuStatus::kOk) return std::nullopt;
  return std::string(error.text);
}

/// Why results of a device are not used.
constexpr const char* kGpuDiffers = "the GPU gave other results than the CPU for a sample";

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
    const std::optional<std::string> why = gpu_call(*table_, ctx_, GpuShare::kAlone, call);
    if (!why) return true;
    lose(*why);
    return false;
  }

  /// Like run(call), but results count only where agrees() finds a sample of them to be what the CPU computes: a device
  /// that rounds otherwise, or that is broken, is not believed.
  template <class Call, class Agrees>
  bool run(const Call& call, const Agrees& agrees) {
    if (!run(call)) return false;
    if (agrees()) return true;
    lose(kGpuDiffers);
    return false;
  }

  /// For gpu_call; nullptr if the CPU must compute.
  const GpuTable* table() const { return table_; }
  /// The CPU computes from now on, and the warning tells why.
  void lose(const std::string& why) {
    warn(why);
    table_ = nullptr;
  }

 private:
  void warn(const std::string& reason) { warnings_.push_back(what_ + " ran on the CPU: " + reason); }

  OpContext& ctx_;
  std::string what_;
  std::vector<std::string>& warnings_;
  const GpuTable* table_ = nullptr;
};

}  // namespace pc
